#include "torchwatch/report/self_test_figures.hpp"

#include "torchwatch/detect/binomial_interval.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::report {

double false_alarms_bound(const storage::SelfTestTally& tally) {
  return detect::share_of(tally.regressed + tally.improved, tally.series).bound;
}

std::string false_alarms_bound_text(const storage::SelfTestTally& tally) {
  return figures::share(false_alarms_bound(tally));
}

nlohmann::json json_of(const storage::SelfTestTally& tally) {
  return {{"series", tally.series},
          {"inconclusive", tally.inconclusive},
          {"regressed", tally.regressed},
          {"improved", tally.improved},
          {"false_alarms_bound", false_alarms_bound(tally)}};
}

}  // namespace torchwatch::report
