#include "handlers.hpp"
#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::api {

Status note_asker(const Request& request, const Backend& backend) {
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  storage::AuditRow row;
  row.path = request.method == "POST" ? request.path : request.method + " " + request.path;
  if (body.is_object()) row.item = body.value("key", body.value("name", ""));
  row.asked_by = to_string(asker_of(request));
  row.asked_at = backend.clock.wall_now();
  const auto added = storage::AuditStore(backend.database).add(row);
  return added ? added : fail(added.error().within("it is done, but who asked is not stored"));
}

Result<Reply> list_audit(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request, {}));
  return list_fitting<storage::AuditStore>(
      "changes", page, backend, [](const auto&) { return true; },
      [](const auto& row) -> Result<nlohmann::json> { return report::json_of(row); });
}

}  // namespace torchwatch::api
