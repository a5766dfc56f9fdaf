#include "submission.hpp"

#include <algorithm>

#include "../paging.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::web::handlers {
namespace {

constexpr std::size_t kKeyBytesMax = 128;

Result<std::string> delivery_of(const Request& request, Backend& backend) {
  const std::string& key = request.idempotency_key;
  if (key.empty()) return backend.random.token();
  const bool is_visible =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (is_visible && key.size() <= kKeyBytesMax) return "http:" + key;
  return fail(ErrorCode::invalid, "Idempotency-Key must have 1 to " + std::to_string(kKeyBytesMax) +
                                      " printable characters without blanks");
}

}  // namespace

Result<Reply> submit(const Request& request, Backend& backend, storage::RequestKind kind,
                     const nlohmann::json& body) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto delivery, delivery_of(request, backend));
  const std::string text = body.dump();
  TW_TRY(const auto received, storage::RequestStore(backend.database)
                                  .received(delivery, kind, text, backend.clock.wall_now()));
  const auto& [row, is_new] = received;
  if (row.kind != kind || row.body_json != text) {
    return fail(ErrorCode::conflict, "this Idempotency-Key was used for another request, number " +
                                         std::to_string(row.id));
  }
  if (is_new && backend.request_arrived) backend.request_arrived();
  Reply reply = object_reply({{"id", row.id}, {"state", to_string(row.state)}});
  reply.status = 202;
  reply.headers.emplace("Location", "/api/v1/requests/" + std::to_string(row.id));
  return reply;
}

}  // namespace torchwatch::web::handlers
