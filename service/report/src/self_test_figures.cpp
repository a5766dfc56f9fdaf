#include "torchwatch/report/self_test_figures.hpp"

#include "torchwatch/detect/binomial_interval.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::report {

namespace {

/// The 95 % lower bound on the share of planted slowdowns that are found.
double found_bound(const storage::DrillTally& tally) {
  return 1 - detect::share_of(tally.planted - tally.found, tally.planted).bound;
}

}  // namespace

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

std::string drills_text(const storage::DrillTally& tally) {
  if (tally.planted == 0) return "No slowdown was planted yet, so nothing is known of misses.";
  auto text = std::to_string(tally.found) + " of " +
              figures::count(static_cast<std::size_t>(tally.planted), "planted slowdown") +
              (tally.planted == 1 ? " was" : " were") + " found";
  const auto add = [&](int number, const char* what) {
    if (number == 0) return;
    text += ", " + std::to_string(number) + (number == 1 ? " was " : " were ") + what;
  };
  add(tally.missed(), "missed");
  add(tally.inconclusive, "too noisy to tell");
  return text + "; of such ones at least " + figures::share(found_bound(tally)) +
         " are found (95 % lower bound).";
}

nlohmann::json json_of(const storage::DrillTally& tally) {
  return {{"planted", tally.planted},
          {"found", tally.found},
          {"inconclusive", tally.inconclusive},
          {"missed", tally.missed()},
          {"found_bound", found_bound(tally)}};
}

}  // namespace torchwatch::report
