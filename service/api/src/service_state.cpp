#include "handlers.hpp"
#include "openapi.hpp"
#include "torchwatch/metrics/exposition.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::api {

Result<Reply> get_self_tests(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto tallies, storage::ComparisonStore(backend.database).self_tests());
  return http::object_reply(report::json_of(tallies));
}

Result<Reply> get_description(const Request& request, const Backend&) {
  TW_TRY_VOID(http::refuse_parameters(request));
  return Reply{.status = 200,
               .content_type = "application/json",
               .body = std::string(kDescription),
               .headers = {}};
}

Result<Reply> get_metrics(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const auto now = backend.service_now ? backend.service_now() : health::Report{};
  TW_TRY(auto text, metrics::exposition(backend.database, now));
  return Reply{.status = 200,
               .content_type = "text/plain; version=0.0.4; charset=utf-8",
               .body = std::move(text),
               .headers = {}};
}

Result<Reply> get_health(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const auto report = backend.service_now ? backend.service_now() : health::Report{};
  auto reply = http::object_reply(health::to_json(report, request.is_trusted));
  if (health::is_failing(report.problems)) reply.status = 503;
  return reply;
}

}  // namespace torchwatch::api
