#include "requests.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/daemon/on_demand.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/measurement/measurement.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/bisection_request.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::daemon {
namespace {

using nlohmann::json;
using storage::RequestRow;
using storage::RequestState;

/// Returns the id that a request noted under this name before it was put off.
std::optional<storage::Id> noted_id(const RequestRow& request, const char* name) {
  const auto noted = report::embedded(request.result_json);
  const bool is_noted = noted.is_object() && noted.contains(name);
  if (!is_noted || !noted[name].is_number_integer()) return std::nullopt;
  return noted[name].get<storage::Id>();
}

bool is_trigger(const RequestRow& request) {
  if (request.kind != storage::RequestKind::nightly) return false;
  const auto body = report::embedded(request.body_json);
  const bool names_one = body.is_object() && body.contains("candidate");
  const bool names_builds = names_one && (body.contains("baseline") || body.contains("passes"));
  return !names_builds && !pulls::is_pull_spec(body);
}

Urgency urgency_of(const RequestRow& request) {
  const auto body = report::embedded(request.body_json);
  const bool is_hurried = body.is_object() && body.contains("now") && body["now"] == true;
  return is_hurried ? Urgency::now : Urgency::in_turn;
}

/// Finds the build that a request names. A folder may be named by a user of this machine only,
/// because a build's code is run.
Result<storage::BuildRow> build_of(Application& application, const RequestRow& request,
                                   const char* member, std::stop_token stop) {
  const auto name = report::embedded(request.body_json).at(member).get<std::string>();
  return request.asked_by.user ? resolve_build(application, name, stop)
                               : published_build(application, name, stop);
}

/// Notes what a request has opened. Call it in the transaction that opens it: a request that
/// somebody cancelled meanwhile cannot note, and so opens nothing.
Status note(Application& application, const RequestRow& request, const char* what, storage::Id id) {
  return storage::RequestStore(application.services().database)
      .note(request.id, json{{what, id}}.dump());
}

/// Opens what a request asks for: a comparison of two builds, or of one under two settings.
Result<storage::ComparisonRow> open_comparison(comparison::Services& services, const json& body,
                                               const comparison::Selection& selection,
                                               storage::Id candidate,
                                               const std::optional<storage::BuildRow>& baseline,
                                               const std::optional<storage::StudyRow>& study) {
  if (study) return nightly::open_study(services, candidate, *study, selection);
  return nightly::open_requested_comparison(services, candidate, baseline->id,
                                            body.value("opens_incidents", true), selection);
}

/// Returns the comparison of a request: the one that it opened before it was put off, else a new
/// one.
Result<storage::ComparisonRow> comparison_of(Application& application, const RequestRow& request,
                                             std::stop_token stop) {
  storage::ComparisonStore comparisons(application.services().database);
  if (const auto noted = noted_id(request, "comparison")) return comparisons.get(*noted);
  const auto body = report::embedded(request.body_json);
  TW_TRY(const auto selection, comparison::parse_selection(body));
  TW_TRY(const auto candidate, build_of(application, request, "candidate", stop));
  TW_TRY(const auto study, comparison::parse_study(body));
  std::optional<storage::BuildRow> baseline;
  if (!study) {
    TW_TRY(baseline, build_of(application, request, "baseline", stop));
  }
  auto& services = application.services();
  storage::ComparisonRow opened;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY(opened, open_comparison(services, body, selection, candidate.id, baseline, study));
    return note(application, request, "comparison", opened.id);
  }));
  return opened;
}

/// Runs one build in passes that time nothing.
Result<std::string> carry_out_measurement(Application& application, const RequestRow& request,
                                          const json& body, std::stop_token stop) {
  auto& services = application.services();
  TW_TRY(const auto selection, comparison::parse_selection(body));
  TW_TRY(const auto plan, comparison::plan_of(services, selection));
  TW_TRY(const auto build, build_of(application, request, "candidate", stop));
  for (const auto& word : body.at("passes")) {
    TW_TRY(const auto pass, parse_pass(word.get<std::string>()));
    TW_TRY_VOID(measurement::observe_build(services, build.id, plan, pass, stop));
  }
  return json{{"build", build.id}}.dump();
}

Result<std::string> carry_out_nightly(Application& application, const RequestRow& request,
                                      std::stop_token stop) {
  if (pulls::is_of_pull(request)) {
    auto parts = application.pull_parts();
    return pulls::carry_out(parts, request, std::move(stop));
  }
  const auto body = report::embedded(request.body_json);
  if (body.contains("passes")) return carry_out_measurement(application, request, body, stop);
  TW_TRY(const auto comparison, comparison_of(application, request, stop));
  TW_TRY(const auto ended, nightly::carry_out_comparison(application.services(), comparison, stop));
  if (ended.state == storage::ComparisonState::cancelled) {
    const json answer{{"error", "its comparison " + std::to_string(ended.id) + " was cancelled"}};
    storage::RequestStore requests(application.services().database);
    TW_TRY_VOID(requests.answer(request.id, RequestState::cancelled, answer.dump()));
  }
  return json{{"comparison", ended.id}}.dump();
}

Result<std::string> carry_out_bisection(Application& application, const RequestRow& request,
                                        std::stop_token stop) {
  TW_TRY(auto wanted, requests::parse_bisection_request(request.body_json));
  for (auto* commit : {&wanted.suspect, &wanted.good, &wanted.bad}) {
    if (commit->empty() || request.asked_by.user) continue;
    TW_TRY(*commit, commit_on_branch(application, *commit, stop));
  }
  const RequestedBisection requested{.opened = noted_id(request, "bisection"),
                                     .note = [&](const char* what, storage::Id id) {
                                       return note(application, request, what, id);
                                     }};
  TW_TRY(const auto row, bisect_on_demand(application, wanted, stop, requested));
  return json{{"bisection", row.id}}.dump();
}

Result<std::string> carry_out_fetch(Application& application, const RequestRow& request,
                                    std::stop_token stop) {
  TW_TRY(const auto build, build_of(application, request, "name", stop));
  return json{{"build", build.id}}.dump();
}

Result<std::string> do_work(Application& application, const RequestRow& request,
                            std::stop_token stop) {
  switch (request.kind) {
    case storage::RequestKind::nightly:
      return carry_out_nightly(application, request, stop);
    case storage::RequestKind::bisection:
      return carry_out_bisection(application, request, stop);
    case storage::RequestKind::fetch:
      return carry_out_fetch(application, request, stop);
  }
  return fail(ErrorCode::internal, "a request of an unknown kind");
}

storage::ItemKey key_of(const RequestRow& request) {
  return {storage::ItemKind::request, std::to_string(request.id)};
}

Status carry_out(Application& application, const RequestRow& request, std::stop_token stop) {
  auto& services = application.services();
  const signals::InterruptibleWork work(services.interrupts, key_of(request), std::move(stop));
  storage::RequestStore requests(services.database);
  TW_TRY(const auto claimed, requests.claim(request.id));
  auto done = do_work(application, claimed, work.stop());
  TW_TRY(const auto now, requests.get(claimed.id));
  if (storage::is_end(now.state)) return {};  // somebody cancelled it meanwhile
  if (done) return requests.answer(claimed.id, RequestState::done, *done);
  TW_TRY_VOID(requests.reopen(claimed.id));
  return fail(std::move(done).error());
}

nightly::WorkItem item_of(Application& application, const RequestRow& request,
                          std::function<Status()> work) {
  return {.key = key_of(request),
          .work = std::move(work),
          .end = [&application, id = request.id](nightly::Failure failure,
                                                 const std::string& reason) -> Status {
            storage::RequestStore requests(application.services().database);
            TW_TRY(const auto now, requests.get(id));
            if (storage::is_end(now.state)) return {};
            if (pulls::is_of_pull(now)) {
              auto parts = application.pull_parts();
              TW_TRY_VOID(pulls::conclude(parts, now, reason));
            }
            const auto state =
                failure == nightly::Failure::refused ? RequestState::refused : RequestState::failed;
            return requests.answer(id, state, json{{"error", reason}}.dump());
          }};
}

}  // namespace

Status answer_triggers(Application& application) {
  storage::RequestStore requests(application.services().database);
  TW_TRY(const auto pending, requests.with_state(RequestState::pending));
  for (const auto& request : pending) {
    if (!is_trigger(request)) continue;
    TW_TRY_VOID(requests.answer(
        request.id, RequestState::done,
        json{{"note", "nightlies are looked for, and those that are due compared"}}.dump()));
  }
  return {};
}

Result<bool> attend_next_request(Application& application, Urgency urgency, std::stop_token stop) {
  auto& services = application.services();
  auto parts = application.pull_parts();
  if (const auto removed = pulls::remove_cancelled(parts); !removed) {
    application.log().logger("pulls").warning(removed.error().text());
  }
  TW_TRY(const auto pending,
         storage::RequestStore(services.database).with_state(RequestState::pending));
  for (const auto& request : pending) {
    // A trigger that came after this round's were answered is the next round's.
    if (is_trigger(request) || urgency_of(request) != urgency) continue;
    const auto item =
        item_of(application, request, [&] { return carry_out(application, request, stop); });
    TW_TRY(const bool due, nightly::is_due(services, item.key));
    if (!due) continue;
    TW_TRY_VOID(nightly::attend(services, item));
    return true;
  }
  return false;
}

Result<std::set<storage::Id>> bisections_of_requests(Application& application) {
  TW_TRY(const auto pending,
         storage::RequestStore(application.services().database).with_state(RequestState::pending));
  std::set<storage::Id> bisections;
  for (const auto& request : pending) {
    if (const auto noted = noted_id(request, "bisection")) bisections.insert(*noted);
  }
  return bisections;
}

Status reopen_requests(Application& application) {
  storage::RequestStore requests(application.services().database);
  TW_TRY(const auto left, requests.with_state(RequestState::running));
  for (const auto& request : left) TW_TRY_VOID(requests.reopen(request.id));
  return {};
}

}  // namespace torchwatch::daemon
