// How a request ends that does not come to a result: put off for ever, or cancelled.
#include "ending.hpp"

#include <algorithm>

#include "messages.hpp"
#include "noted.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/triage/triage.hpp"

namespace torchwatch::pulls {
namespace {

using nlohmann::json;
using storage::RequestRow;
using storage::RequestState;

/// How many of the newest requests are looked at for some that were cancelled.
constexpr int kRequestsLookedAt = 100;

/// Ends the comparison that the request has opened, if it did.
Status end_comparison(comparison::Services& services, const Noted& noted,
                      const std::string& reason) {
  if (!noted.comparison) return {};
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto row, comparisons.get(*noted.comparison));
  if (is_end(row.state)) return {};
  const auto ended = comparisons.advance(row, storage::ComparisonState::refused,
                                         services.clock.wall_now(), reason);
  return ended ? Status{} : Status{fail(ended.error())};
}

/// Says on the pull request that it is not compared. Where the work itself has said why, its
/// message has the same key.
Status say_ended(comparison::Services& services, const RequestRow& request, const PullSpec& spec,
                 const std::string& why) {
  const auto noted = noted_by(request);
  const Saying saying{.spec = spec, .request = request.id, .head = noted.head, .base = noted.base};
  storage::OutboxStore outbox(services.database);
  TW_TRY_VOID(outbox.queue(
      comment_message(saying, kEnd, refused_comment(saying, why), services.random.token())));
  if (noted.head.empty() || noted.base.empty()) return {};
  const Came none{.sentence = "not compared; nothing is said about it"};
  return outbox.queue(mark_message(saying, services.config.github.app_id != 0, kEnd, none, true));
}

/// Cancels what a request noted that it had opened.
Status cancel_opened(comparison::Services& services, const json& note,
                     const storage::Asker& asker) {
  if (note.contains("comparison")) {
    const auto id = note["comparison"].get<storage::Id>();
    TW_TRY(const auto row, storage::ComparisonStore(services.database).get(id));
    if (!is_end(row.state)) TW_TRY_VOID(triage::cancel_comparison(services, id, asker));
  }
  if (!note.contains("bisection")) return {};
  const auto id = note["bisection"].get<storage::Id>();
  TW_TRY(const auto row, storage::BisectionStore(services.database).get(id));
  if (row.state == storage::BisectionState::ended) return {};
  return triage::cancel_bisection(services, id, asker);
}

Status cancel(comparison::Services& services, const RequestRow& request,
              const storage::Asker& asker) {
  const auto noted = report::embedded(request.result_json);
  const auto note = noted.is_object() ? noted : json::object();
  // What was built for a pull request is found again by its head.
  auto answer = is_of_pull(request) ? note : json::object();
  answer["error"] = "cancelled by " + to_string(asker);
  TW_TRY_VOID(storage::RequestStore(services.database)
                  .answer(request.id, RequestState::cancelled, answer.dump()));
  TW_TRY_VOID(cancel_opened(services, note, asker));
  if (!is_of_pull(request)) return {};
  const auto spec = parse_pull_spec(report::embedded(request.body_json));
  return spec ? say_ended(services, request, *spec, "it was cancelled") : Status{};
}

bool is_needed(const std::string& head, const std::vector<RequestRow>& requests) {
  return std::ranges::any_of(requests, [&](const RequestRow& request) {
    return !storage::is_end(request.state) && noted_by(request).head == head;
  });
}

}  // namespace

Noted noted_by(const RequestRow& request) {
  const auto note = report::embedded(request.result_json);
  Noted noted;
  if (!note.is_object()) return noted;
  noted.head = note.value("head", "");
  noted.base = note.value("base", "");
  if (note.contains("comparison")) noted.comparison = note["comparison"].get<storage::Id>();
  return noted;
}

json to_json(const Noted& noted) {
  json note{{"head", noted.head}, {"base", noted.base}};
  if (noted.comparison) note["comparison"] = *noted.comparison;
  return note;
}

Status cancel_request(comparison::Services& services, storage::Id id, const storage::Asker& asker) {
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY(const auto request, storage::RequestStore(services.database).get(id));
    return cancel(services, request, asker);
  }));
  if (services.interrupts != nullptr) {
    services.interrupts->interrupt({storage::ItemKind::request, std::to_string(id)});
  }
  return {};
}

Status remove_cancelled(PullParts& parts) {
  if (parts.heads == nullptr) return {};
  TW_TRY(const auto requests,
         storage::RequestStore(parts.services.database).list(kRequestsLookedAt));
  Status all;
  for (const auto& request : requests) {
    if (request.state != RequestState::cancelled || !is_of_pull(request)) continue;
    const auto head = noted_by(request).head;
    if (head.empty() || is_needed(head, requests)) continue;
    const auto removed = parts.heads->remove(head);
    if (all) all = removed;  // one that stays keeps no other one
  }
  return all;
}

Status conclude(PullParts& parts, const RequestRow& request, const std::string& reason) {
  const auto spec = parse_pull_spec(report::embedded(request.body_json));
  if (!spec) return {};
  auto& services = parts.services;
  return services.database.transact([&]() -> Status {
    TW_TRY_VOID(end_comparison(services, noted_by(request), reason));
    // Why stands in the log and the request: it may quote paths and the output of programs.
    return say_ended(services, request, *spec, "it could not be carried out");
  });
}

}  // namespace torchwatch::pulls
