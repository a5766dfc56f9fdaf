#include "handlers.hpp"
#include "torchwatch/http/paging.hpp"
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
  TW_TRY(const auto page, http::page_of(request));
  TW_TRY(const auto incidents,
         storage::IncidentStore(backend.database).list(page.limit, page.before));
  json entries = json::array();
  for (const auto& incident : incidents) entries.push_back(report::json_of(incident));
  return http::list_reply("incidents", std::move(entries), page);
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
