#include "torchwatch/report/self_test_figures.hpp"

#include "torchwatch/detect/binomial_interval.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::report {

double false_alarms_bound(const storage::SelfTestTally& tally) {
  return detect::share_of(tally.regressed + tally.improved, tally.series).bound;
}

std::string false_alarms_bound_text(const storage::SelfTestTally& tally) {
  return figures::share(false_alarms_bound(tally));
}

std::string self_tests_text(const storage::SelfTestTally& tally) {
  // Without a false alarm among 300 series the bound is 1 %; among fewer it says how few they were.
  constexpr int kEnough = 300;
  const int wrong = tally.regressed + tally.improved;
  auto text = std::to_string(wrong) + " of " + figures::grouped(tally.series) +
              " series of builds compared with themselves " + (wrong == 1 ? "was" : "were") +
              " called changed so far; the false-alarm rate is at most " +
              false_alarms_bound_text(tally) + " (95 % upper bound)";
  if (wrong == 0 && tally.series < kEnough) text += ", as only few were judged";
  return text + ".";
}

nlohmann::json json_of(const storage::SelfTestTally& tally) {
  return {{"series", tally.series},
          {"inconclusive", tally.inconclusive},
          {"regressed", tally.regressed},
          {"improved", tally.improved},
          {"false_alarms_bound", false_alarms_bound(tally)}};
}

nlohmann::json json_of(const std::vector<storage::SelfTestTally>& tallies) {
  auto by_metric = nlohmann::json::array();
  for (const auto& tally : tallies) {
    by_metric.push_back(json_of(tally));
    by_metric.back()["metric"] = to_string(tally.metric);
  }
  return {{"self_tests", std::move(by_metric)}, {"all", json_of(storage::sum_of(tallies))}};
}

}  // namespace torchwatch::report
