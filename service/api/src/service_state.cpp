#include "handlers.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::api {

using nlohmann::json;

Result<Reply> get_self_tests(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto tallies, storage::ComparisonStore(backend.database).self_tests());
  json by_metric = json::array();
  for (const auto& tally : tallies) {
    by_metric.push_back(report::json_of(tally));
    by_metric.back()["metric"] = to_string(tally.metric);
  }
  return http::object_reply(
      {{"self_tests", std::move(by_metric)}, {"all", report::json_of(storage::sum_of(tallies))}});
}

Result<Reply> get_health(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const std::string trouble = backend.health_problem ? backend.health_problem() : "";
  if (trouble.empty()) return http::object_reply({{"status", "ok"}});
  return http::problem(503, trouble);
}

}  // namespace torchwatch::api
