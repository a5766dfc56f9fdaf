#include <algorithm>
#include <functional>

#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/http/paging.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using storage::IncidentRow;
using storage::IncidentState;

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
                            filters.contains("metric");
  return !names_series || std::ranges::any_of(row.series, [&page](const auto& effect) {
    const auto& benchmark = effect.series.benchmark;
    return page.admits("workload", benchmark.workload) &&
           page.admits("configuration", to_string(benchmark.configuration)) &&
           page.admits("metric", to_string(effect.series.metric));
  });
}

/// What a request makes of an incident.
struct Change {
  std::function<Status(storage::IncidentStore&, storage::Id)> apply;
  std::function<bool(const IncidentRow&)> is_done;  ///< whether the incident is like that already
};

/// Changes the incident and answers with it. A request with an Idempotency-Key may be a repetition
/// whose first answer was lost: if the incident is as it asks, it gets that answer again.
Result<Reply> carry_out(const Request& request, const Backend& backend, const Change& change) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(check_key(request));
  TW_TRY(const auto id, http::id_of(request));
  storage::IncidentStore incidents(backend.database);
  const auto changed = change.apply(incidents, id);
  const bool may_be_done =
      !changed && changed.error().code == ErrorCode::conflict && request.idempotency_key;
  if (!changed && !may_be_done) return fail(changed.error());
  TW_TRY(const auto incident, incidents.get(id));
  if (!changed && !change.is_done(incident)) return fail(changed.error());
  return http::object_reply(with_url(report::json_of(incident), "/api/v1/incidents"));
}

}  // namespace

Result<Reply> list_incidents(const Request& request, const Backend& backend) {
  TW_TRY(const auto page,
         http::page_of(request, {"state", "kind", "workload", "configuration", "metric"}));
  TW_TRY_VOID(check_word<IncidentState>(page, "state"));
  TW_TRY_VOID(check_word<IncidentKind>(page, "kind"));
  TW_TRY_VOID(check_word<Metric>(page, "metric"));
  const auto fits = [&page](const IncidentRow& row) {
    return page.admits("state", to_string(row.state)) && page.admits("kind", to_string(row.kind)) &&
           concerns(row, page);
  };
  return list_fitting<storage::IncidentStore>(
      "incidents", page, backend, fits, [](const auto& row) -> Result<json> {
        return with_url(report::json_of(row), "/api/v1/incidents");
      });
}

Result<Reply> get_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  storage::IncidentStore incidents(backend.database);
  TW_TRY(const auto incident, incidents.get(id));
  TW_TRY(const auto messages, incidents.outbox_of(id));
  json out = with_url(report::json_of(incident), "/api/v1/incidents");
  out["messages"] = json::array();
  for (const auto& message : messages) out["messages"].push_back(message_json(message, request));
  return http::object_reply(out);
}

Result<Reply> acknowledge_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(parse_object(request.body, {}));
  return carry_out(
      request, backend,
      {.apply = [](auto& incidents, auto id) { return incidents.acknowledge(id); },
       .is_done = [](const auto& row) { return row.state == IncidentState::acknowledged; }});
}

Result<Reply> close_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(parse_object(request.body, {}));
  const auto now = backend.clock.wall_now();
  return carry_out(
      request, backend,
      {.apply = [now](auto& incidents, auto id) { return incidents.close(id, now); },
       .is_done =
           [](const auto& row) { return row.state == IncidentState::closed && !row.acceptance; }});
}

Result<Reply> accept_incident(const Request& request, const Backend& backend) {
  TW_TRY(const json body, parse_object(request.body, {"by", "reason"}));
  TW_TRY(const auto by, who_asks(request, body));
  TW_TRY(const auto reason, text_member(body, "reason", kReasonMax));
  if (reason.empty()) return fail(ErrorCode::invalid, "missing why it is accepted: give reason");
  TW_TRY(
      auto reply,
      carry_out(request, backend,
                {.apply = [&](auto&, auto id) { return backend.accept_incident(id, by, reason); },
                 .is_done =
                     [&](const auto& row) {
                       return row.acceptance && row.acceptance->by == by &&
                              row.acceptance->reason == reason;
                     }}));
  if (backend.request_arrived) backend.request_arrived();  // the comment on its issue is due
  return reply;
}

Result<Reply> reopen_incident(const Request& request, const Backend& backend) {
  TW_TRY(const json body, parse_object(request.body, {"by"}));
  TW_TRY(const auto by, who_asks(request, body));
  TW_TRY(auto reply,
         carry_out(request, backend,
                   {.apply = [&](auto&, auto id) { return backend.reopen_incident(id, by); },
                    .is_done = [](const auto& row) { return row.state == IncidentState::open; }}));
  if (backend.request_arrived) backend.request_arrived();  // the comment on its issue is due
  return reply;
}

Result<Reply> dispute_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const json body, parse_object(request.body, {"by", "reason"}));
  TW_TRY(const auto by, who_asks(request, body));
  TW_TRY(const auto reason, text_member(body, "reason", kReasonMax));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto bisection, backend.dispute_incident(id, by, reason));
  if (backend.request_arrived) backend.request_arrived();
  return http::object_reply({{"incident", id}, {"bisection", bisection}});
}

Result<Reply> retest_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto comparison, backend.retest_incident(id));
  if (backend.request_arrived) backend.request_arrived();
  return http::object_reply({{"incident", id}, {"comparison", comparison}});
}

}  // namespace torchwatch::api
