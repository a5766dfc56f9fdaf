#include "handlers.hpp"
#include "request_body.hpp"
#include "torchwatch/paging/paging.hpp"

namespace torchwatch::api {
namespace {

Status require_nothing_said(const Request& request) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY_VOID(parse_object(request.body, {}));
  return {};
}

}  // namespace

Result<Reply> back_up_database(const Request& request, const Backend& backend) {
  TW_TRY_VOID(require_nothing_said(request));
  TW_TRY(const auto file, backend.back_up_database());
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(file, ignored);
  return http::object_reply(
      {{"backup", file.string()}, {"bytes", ignored ? std::uintmax_t{0} : bytes}});
}

Result<Reply> check_database(const Request& request, const Backend& backend) {
  TW_TRY_VOID(require_nothing_said(request));
  TW_TRY(const auto breaches, backend.check_database());
  auto broken = nlohmann::json::array();
  for (const auto& [invariant, rows] : breaches) {
    broken.push_back({{"invariant", invariant}, {"rows", rows}});
  }
  return http::object_reply({{"broken_rules", broken}});
}

Result<Reply> tidy_caches(const Request& request, const Backend& backend) {
  TW_TRY_VOID(require_nothing_said(request));
  if (backend.tidy_caches) backend.tidy_caches();
  auto reply = http::object_reply({{"state", "pending"}});
  reply.status = 202;
  return reply;
}

}  // namespace torchwatch::api
