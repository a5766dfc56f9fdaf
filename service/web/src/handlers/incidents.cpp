#include "../paging.hpp"
#include "../row_json.hpp"
#include "handlers.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::web::handlers {
namespace {

using nlohmann::json;

json target_json(const storage::IncidentTargetRow& target) {
  json out = json_of(target.target);
  out.update({{"ratio", number_or_null(target.ratio)},
              {"interval", interval_of(target.interval_low, target.interval_high)},
              {"baseline_value", target.baseline_value},
              {"candidate_value", target.candidate_value}});
  return out;
}

json incident_json(const storage::IncidentRow& incident) {
  json targets = json::array();
  for (const auto& target : incident.targets) targets.push_back(target_json(target));
  return {{"id", incident.id},
          {"nightly", incident.night},
          {"key", incident.key},
          {"kind", to_string(incident.kind)},
          {"state", to_string(incident.state)},
          {"title", incident.title},
          {"effects", std::move(targets)},
          {"bisection", incident.bisection ? json(*incident.bisection) : json(nullptr)},
          {"issue_number", incident.issue_number ? json(*incident.issue_number) : json(nullptr)},
          {"acceptance", report::json_of(incident.acceptance)},
          {"opened_at", time_of(incident.opened_at)},
          {"closed_at", time_of(incident.closed_at)}};
}

json message_json(const storage::OutboxRow& message) {
  return {{"kind", to_string(message.kind)},
          {"state", to_string(message.state)},
          {"tries", message.tries},
          {"title", text_or_null(message.title)},
          {"body", message.body}};
}

}  // namespace

Result<Reply> list_incidents(const Request& request, Backend& backend) {
  TW_TRY(const Page page, page_of(request));
  TW_TRY(const auto incidents,
         storage::IncidentStore(backend.database).list(page.limit, page.before));
  json entries = json::array();
  for (const auto& incident : incidents) entries.push_back(incident_json(incident));
  return list_reply("incidents", std::move(entries), page);
}

Result<Reply> get_incident(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto id, id_of(request));
  storage::IncidentStore incidents(backend.database);
  TW_TRY(const auto incident, incidents.get(id));
  TW_TRY(const auto messages, incidents.outbox_of(id));
  json out = incident_json(incident);
  out["messages"] = json::array();
  for (const auto& message : messages) out["messages"].push_back(message_json(message));
  return object_reply(out);
}

}  // namespace torchwatch::web::handlers
