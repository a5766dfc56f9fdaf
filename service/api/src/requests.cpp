#include <algorithm>
#include <ranges>

#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/documents/request.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::api {

namespace {

constexpr std::size_t kKeyBytesMax = 128;

Result<std::string> delivery_of(const Request& request, const Backend& backend) {
  if (!request.idempotency_key) return backend.random.token();
  TW_TRY_VOID(check_key(request));
  return "http:" + *request.idempotency_key;
}

/// What was asked and how it ended name paths of this machine: strangers do not see it.
Result<nlohmann::json> request_json(const storage::RequestRow& row, const Request& request,
                                    const Backend& backend) {
  TW_TRY(auto object, report::json_of(backend.database, row));
  object["kind"] = requests::kind_text(row);
  for (const auto* known : {"body", "result", "asked_by", "waits_for"}) {
    if (!request.is_trusted) object[known] = nullptr;
  }
  return with_url(std::move(object), "/api/v1/requests");
}

}  // namespace

Status check_key(const Request& request) {
  if (!request.idempotency_key) return {};
  const std::string& key = *request.idempotency_key;
  const bool is_visible =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (is_visible && !key.empty() && key.size() <= kKeyBytesMax) return {};
  return fail(ErrorCode::invalid, "invalid Idempotency-Key: must be 1 to " +
                                      std::to_string(kKeyBytesMax) +
                                      " printable characters without blanks");
}

Status check_selection(const nlohmann::json& body) {
  const auto words = [&](const char* member, auto parse) -> Status {
    TW_TRY(const auto names, names_member(body, member));
    for (const auto& name : names) {
      if (const auto known = parse(name); !known) return fail(known.error().within(member));
    }
    return {};
  };
  TW_TRY_VOID(names_member(body, "workloads"));
  TW_TRY_VOID(words("configurations", parse_configuration));
  TW_TRY_VOID(words("variants", parse_variant));
  TW_TRY_VOID(words("metrics", parse_judged_metric));
  const auto now = body.find("now");
  if (now == body.end() || now->is_boolean()) return {};
  return fail(ErrorCode::invalid, "invalid now: must be true or false");
}

Result<Reply> submit(const Request& request, const Backend& backend, storage::RequestKind kind,
                     const nlohmann::json& body) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto delivery, delivery_of(request, backend));
  // What can never be carried out as asked is refused before anything is stored.
  const auto checked = backend.check_request
                           ? backend.check_request(kind, body, request.peer.has_value())
                           : Status{};
  if (!checked) {
    const auto& error = checked.error();
    const bool is_about_request =
        error.code == ErrorCode::invalid || error.code == ErrorCode::not_found;
    return is_about_request ? Result<Reply>(http::problem(422, error)) : fail(error);
  }
  const std::string text = body.dump();
  TW_TRY(const auto received,
         storage::RequestStore(backend.database)
             .receive(delivery, kind, text, backend.clock.wall_now(), asker_of(request)));
  const auto& [row, is_new] = received;
  if (row.kind != kind || row.body_json != text) {
    return fail(ErrorCode::conflict, "this Idempotency-Key was used for another request, number " +
                                         std::to_string(row.id));
  }
  if (is_new && backend.request_arrived) backend.request_arrived();
  Reply reply = http::object_reply({{"id", row.id}, {"state", to_string(row.state)}});
  reply.status = 202;
  reply.headers.emplace("Location", "/api/v1/requests/" + std::to_string(row.id));
  return reply;
}

Result<Reply> list_requests(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request, {"state", "kind"}));
  TW_TRY_VOID(check_word<storage::RequestState>(page, "state"));
  TW_TRY_VOID(check_word<storage::RequestKind>(page, "kind", {"comparison", "measurement"}));
  const auto fits = [&page](const auto& row) {
    return page.admits("state", to_string(row.state)) &&
           (page.admits("kind", to_string(row.kind)) ||
            page.admits("kind", requests::kind_text(row)));
  };
  return list_fitting<storage::RequestStore>("requests", page, backend, fits, [&](const auto& row) {
    return request_json(row, request, backend);
  });
}

Result<Reply> get_request(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto row, storage::RequestStore(backend.database).get(id));
  TW_TRY(const auto object, request_json(row, request, backend));
  return http::object_reply(object);
}

Result<Reply> list_outbox(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request));
  TW_TRY(const auto rows, storage::OutboxStore(backend.database).unsent());
  TW_TRY(const auto since, storage::OutboxWaits(backend.database).since());
  auto messages = nlohmann::json::array();
  for (const auto& row : rows | std::views::reverse) {
    if (row.id >= page.before) continue;
    if (static_cast<int>(messages.size()) > page.limit) break;
    messages.push_back(report::json_of(row));
    const auto time = since.find(row.id);
    messages.back()["since"] =
        time == since.end() ? nlohmann::json() : report::time_of(time->second);
    if (request.is_trusted) continue;
    for (const auto* member : {"target", "title", "last_error"}) messages.back()[member] = nullptr;
  }
  return list_reply("messages", std::move(messages), page);
}

Result<Reply> cancel_request(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(backend.cancel_request(id, asker_of(request)));
  return http::object_reply({{"id", id}, {"state", to_string(storage::RequestState::cancelled)}});
}

Result<Reply> retry_message(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto body, parse_object(request.body, {"key"}));
  TW_TRY(const auto key, text_member(body, "key", kKeyBytesMax));
  if (key.empty()) return fail(ErrorCode::invalid, "missing key: that of a message of the outbox");
  TW_TRY(const auto row, storage::OutboxStore(backend.database).retry(key));
  if (backend.request_arrived) backend.request_arrived();
  return http::object_reply({{"key", row.key}, {"state", to_string(row.state)}});
}

}  // namespace torchwatch::api
