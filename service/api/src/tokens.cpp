#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/access/token_store.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

constexpr std::size_t kSha256Digits = 64;

}  // namespace

Result<Reply> list_tokens(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto rows, storage::TokenStore(backend.database).list());
  return http::object_reply({{"tokens", report::json_list(rows)}});
}

Result<Reply> add_token(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const json body, parse_object(request.body, {"name", "scopes", "sha256"}));
  TW_TRY(const auto name, name_member(body, "name"));
  TW_TRY(const auto words, name_member(body, "scopes"));
  TW_TRY(const auto sha256, name_member(body, "sha256"));
  if (name.empty() || !is_hex(sha256, kSha256Digits, kSha256Digits)) {
    return fail(ErrorCode::invalid,
                "missing name, or no sha256: the token's SHA-256 in 64 lower-case hex digits");
  }
  TW_TRY(const auto scopes, parse_scopes(words));
  TW_TRY(const auto row,
         storage::TokenStore(backend.database)
             .add(name, sha256, scopes, backend.clock.wall_now(), asker_of(request)));
  if (backend.tokens_changed) TW_TRY_VOID(backend.tokens_changed(""));
  auto reply = http::object_reply(report::json_of(row));
  reply.status = 201;
  return reply;
}

Result<Reply> revoke_token(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto row, storage::TokenStore(backend.database)
                             .revoke(id, backend.clock.wall_now(), asker_of(request)));
  if (backend.tokens_changed) TW_TRY_VOID(backend.tokens_changed(row.name));
  return http::object_reply(report::json_of(row));
}

}  // namespace torchwatch::api
