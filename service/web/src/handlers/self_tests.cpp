#include "../paging.hpp"
#include "false_alarms.hpp"
#include "handlers.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::web::handlers {
namespace {

using nlohmann::json;

json counts_json(const storage::SelfTestTally& tally) {
  return {{"series", tally.series},
          {"inconclusive", tally.inconclusive},
          {"regressed", tally.regressed},
          {"improved", tally.improved},
          {"false_alarms_bound", false_alarms_bound(tally)}};
}

}  // namespace

Result<Reply> get_self_tests(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto tallies, storage::NightStore(backend.database).self_tests());
  json by_metric = json::array();
  for (const auto& tally : tallies) {
    by_metric.push_back(counts_json(tally));
    by_metric.back()["metric"] = to_string(tally.metric);
  }
  return object_reply(
      {{"self_tests", std::move(by_metric)}, {"all", counts_json(storage::sum_of(tallies))}});
}

}  // namespace torchwatch::web::handlers
