#include <algorithm>

#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using storage::Decision;
using storage::DecisionKind;
using storage::IncidentRow;

constexpr std::size_t kNameMax = 200;
constexpr std::size_t kReasonMax = 4'000;

/// The text of an issue is for a tracker that may be private: strangers do not see it.
json message_json(const storage::OutboxRow& message, const Request& request) {
  return {{"kind", to_string(message.kind)},
          {"state", to_string(message.state)},
          {"tries", message.tries},
          {"title", report::text_or_null(message.title)},
          {"body", text_of(message.body, request)}};
}

/// A folder's name and the reason of an end may hold paths: strangers do not see them.
json recheck_json(const report::Recheck& recheck, const Request& request) {
  auto out = report::json_of(recheck);
  if (request.is_trusted) return out;
  out["reason"] = nullptr;
  if (recheck.origin == storage::BuildOrigin::folder) out["candidate"] = nullptr;
  return out;
}

/// An incident with where it is found: as JSON, as a page, as an issue.
json incident_json(const IncidentRow& row, const Backend& backend) {
  auto out = with_url(report::json_of(row), "/api/v1/incidents");
  out["html_url"] = "/incidents/" + std::to_string(row.id);
  const bool has_issue = row.issue_number && !backend.issues_address.empty();
  out["issue_url"] =
      has_issue ? json(backend.issues_address + "/issues/" + std::to_string(*row.issue_number))
                : json(nullptr);
  return out;
}

/// The name of who asks: the one that the body says, or the user's on this machine, or the token's.
/// Errors: invalid.
Result<std::string> who_asks(const Request& request, const json& body) {
  TW_TRY(auto by, text_member(body, "by", kNameMax));
  if (!by.empty()) return by;
  if (request.peer) by = platform::user_name(*request.peer);
  if (by.empty()) by = request.token_name;
  if (by.empty()) return fail(ErrorCode::invalid, "missing who decides: give by");
  return by;
}

/// Whether one of the incident's series is what the filters name.
bool concerns(const IncidentRow& row, const http::Page& page) {
  const auto& filters = page.filters;
  const bool names_series = filters.contains("workload") || filters.contains("configuration") ||
                            filters.contains("variant") || filters.contains("metric");
  return !names_series || std::ranges::any_of(row.series, [&page](const auto& effect) {
    const auto& benchmark = effect.series.benchmark;
    return page.admits("workload", benchmark.workload) &&
           page.admits("configuration", to_string(benchmark.configuration)) &&
           page.admits("variant", to_string(benchmark.variant)) &&
           page.admits("metric", to_string(effect.series.metric));
  });
}

/// Whether the incident is as the decision makes it: the newest decision is the same one.
bool is_made(const IncidentRow& row, DecisionKind kind, const Decision& asked) {
  if (row.decisions.empty() || row.decisions.back().kind != kind) return false;
  const auto& made = row.decisions.back().decision;
  return made.by == asked.by && made.reason == asked.reason;
}

/// The decision that a request asks for, with who really asks beside the name that is said.
Result<Decision> asked_of(const Request& request, DecisionKind kind) {
  TW_TRY(const json body, parse_object(request.body, {"by", "reason"}));
  Decision asked;
  asked.asked_by = to_string(asker_of(request));
  TW_TRY(asked.by, who_asks(request, body));
  TW_TRY(asked.reason, text_member(body, "reason", kReasonMax));
  const bool lacks_reason = kind == DecisionKind::accepted && asked.reason.empty();
  if (lacks_reason) {
    return fail(ErrorCode::invalid,
                "say why it is accepted, as \"reason\" (on the command line --reason)");
  }
  return asked;
}

/// Whether a request with an Idempotency-Key may be a repetition whose first answer was lost: if
/// the incident is as it asks, it gets it again.
template <typename T>
bool may_be_made(const Result<T>& decided, const Request& request) {
  return !decided && decided.error().code == ErrorCode::conflict && request.idempotency_key;
}

/// Makes the decision and answers with the incident.
Result<Reply> decide(const Request& request, const Backend& backend, DecisionKind kind) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(check_key(request));
  TW_TRY(const auto asked, asked_of(request, kind));
  TW_TRY(const auto id, http::id_of(request));
  const auto decided = backend.decide_incident(id, kind, asked);
  if (!decided && !may_be_made(decided, request)) return fail(decided.error());
  TW_TRY(const auto incident, storage::IncidentStore(backend.database).get(id));
  if (!decided && !is_made(incident, kind, asked)) return fail(decided.error());
  if (backend.request_arrived) backend.request_arrived();  // what its issue needs is due
  return http::object_reply(incident_json(incident, backend));
}

}  // namespace

Result<Reply> list_incidents(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request, {"state", "kind", "workload", "configuration",
                                                  "variant", "metric", "from", "to"}));
  const auto state = page.filters.find("state");
  const bool has_state = state != page.filters.end();
  if (has_state) TW_TRY_VOID(report::check_state_word(state->second));
  TW_TRY_VOID(check_word<IncidentKind>(page, "kind"));
  TW_TRY_VOID(check_word<Metric>(page, "metric"));
  TW_TRY(const auto days, days_of(page));
  const auto fits = [&](const IncidentRow& row) {
    return days.have(row.opened_at) && (!has_state || report::is_in_state(row, state->second)) &&
           page.admits("kind", to_string(row.kind)) && concerns(row, page);
  };
  return list_fitting<storage::IncidentStore>(
      "incidents", page, backend, fits,
      [&](const auto& row) -> Result<json> { return incident_json(row, backend); });
}

namespace {

/// What was done to the incident's issue, as its tracker lists it. Titles and reasons are of a
/// tracker that may be private: strangers do not see them.
Result<json> issue_events(storage::Id incident, const Request& request, const Backend& backend) {
  TW_TRY(const auto rows, storage::ConversationStore(backend.database).events_of(incident));
  auto events = json::array();
  for (const auto& row : rows) {
    events.push_back(heard::json_of(row));
    if (!request.is_trusted) events.back()["detail"] = nullptr;
  }
  return events;
}

}  // namespace

Result<Reply> get_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto incident, storage::IncidentStore(backend.database).get(id));
  TW_TRY(const auto messages, storage::OutboxStore(backend.database).of_incident(id));
  json out = incident_json(incident, backend);
  out["messages"] = json::array();
  for (const auto& message : messages) out["messages"].push_back(message_json(message, request));
  out["decisions"] = report::json_list(incident.decisions);
  for (auto& decision : out["decisions"]) {
    if (!request.is_trusted) decision["asked_by"] = nullptr;
  }
  TW_TRY(out["issue_events"], issue_events(id, request, backend));
  TW_TRY(const auto rechecks, report::rechecks_of(backend.database, incident));
  out["rechecks"] = json::array();
  for (const auto& recheck : rechecks) out["rechecks"].push_back(recheck_json(recheck, request));
  return http::object_reply(out);
}

Result<Reply> acknowledge_incident(const Request& request, const Backend& backend) {
  return decide(request, backend, DecisionKind::acknowledged);
}

Result<Reply> close_incident(const Request& request, const Backend& backend) {
  return decide(request, backend, DecisionKind::closed);
}

Result<Reply> accept_incident(const Request& request, const Backend& backend) {
  return decide(request, backend, DecisionKind::accepted);
}

Result<Reply> reopen_incident(const Request& request, const Backend& backend) {
  return decide(request, backend, DecisionKind::reopened);
}

Result<Reply> dispute_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(check_key(request));
  TW_TRY(const auto asked, asked_of(request, DecisionKind::disputed));
  TW_TRY(const auto id, http::id_of(request));
  auto bisection = backend.dispute_incident(id, asked);
  if (may_be_made(bisection, request)) {
    TW_TRY(const auto incident, storage::IncidentStore(backend.database).get(id));
    const bool is_open = is_made(incident, DecisionKind::disputed, asked) && incident.bisection;
    if (is_open) bisection = *incident.bisection;
  }
  if (!bisection) return fail(bisection.error());
  if (backend.request_arrived) backend.request_arrived();
  return http::object_reply({{"incident", id}, {"bisection", *bisection}});
}

Result<Reply> retest_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto due, backend.retest_incident(id));
  if (backend.request_arrived) backend.request_arrived();
  return http::object_reply({{"incident", id}, {"comparison", due.first}, {"is_new", due.second}});
}

}  // namespace torchwatch::api
