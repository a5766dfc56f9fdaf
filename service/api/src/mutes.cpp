#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/paging/paging.hpp"

namespace torchwatch::api {

Result<Reply> list_mutes(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request));
  const auto now = backend.clock.wall_now();
  return list_fitting<storage::MuteStore>(
      "mutes", page, backend, [](const auto&) { return true; },
      [&](const storage::MuteRow& row) -> Result<nlohmann::json> {
        return heard::json_of(row, now, request.is_trusted);
      });
}

Result<Reply> get_mute(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto mute, storage::MuteStore(backend.database).get(id));
  return http::object_reply(heard::json_of(mute, backend.clock.wall_now(), request.is_trusted));
}

Result<Reply> lift_mute(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(storage::MuteStore(backend.database).lift(id, backend.clock.wall_now()));
  return http::object_reply({{"id", id}, {"state", "lifted"}});
}

}  // namespace torchwatch::api
