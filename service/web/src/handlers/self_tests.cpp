#include "../paging.hpp"
#include "handlers.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::web::handlers {

using nlohmann::json;

Result<Reply> get_self_tests(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto tallies, storage::NightStore(backend.database).self_tests());
  json by_metric = json::array();
  for (const auto& tally : tallies) {
    by_metric.push_back(report::json_of(tally));
    by_metric.back()["metric"] = to_string(tally.metric);
  }
  return object_reply(
      {{"self_tests", std::move(by_metric)}, {"all", report::json_of(storage::sum_of(tallies))}});
}

}  // namespace torchwatch::web::handlers
