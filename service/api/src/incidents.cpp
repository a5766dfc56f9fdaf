#include "handlers.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

json message_json(const storage::OutboxRow& message) {
  return {{"kind", to_string(message.kind)},
          {"state", to_string(message.state)},
          {"tries", message.tries},
          {"title", report::text_or_null(message.title)},
          {"body", message.body}};
}

}  // namespace

Result<Reply> list_incidents(const Request& request, const Backend& backend) {
  return list_page<storage::IncidentStore>(
      "incidents", request, backend,
      [](const auto& incident) -> Result<json> { return report::json_of(incident); });
}

Result<Reply> get_incident(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  storage::IncidentStore incidents(backend.database);
  TW_TRY(const auto incident, incidents.get(id));
  TW_TRY(const auto messages, incidents.outbox_of(id));
  json out = report::json_of(incident);
  out["messages"] = json::array();
  for (const auto& message : messages) out["messages"].push_back(message_json(message));
  return http::object_reply(out);
}

}  // namespace torchwatch::api
