#include "torchwatch/nightly/series_settings.hpp"

#include <algorithm>

namespace torchwatch::nightly {
namespace {

/// The signed-rank test gives a 99 % interval from eight pairs on.
constexpr int kPairsForAnInterval = 8;
constexpr int kMetricsPerCell = 6;  // time, two peaks, three leaks

/// How many series may raise a false incident on an average night: comparisons with an older
/// nightly spend the same budget.
int series_a_night(const config::Config& config, const Plan& plan) {
  const auto cells = plan.of_cells > 0 ? plan.of_cells : static_cast<int>(plan.cells.size());
  const int series = std::max(cells * kMetricsPerCell, 1);
  const int every = config.detect.creep_every;
  return every > 0 ? series + (series + every - 1) / every : series;
}

}  // namespace

detect::Settings SeriesSettings::of(const Target& target) const {
  auto settings = common_;
  const auto rule =
      std::find_if(own_.rbegin(), own_.rend(), [&](const auto& each) { return each.fits(target); });
  if (rule == own_.rend()) return settings;
  settings.gate *= rule->threshold / settings.threshold;
  settings.threshold = rule->threshold;
  return settings;
}

detect::Settings detect_settings(const config::Config& config, const Plan& plan) {
  detect::Settings settings;
  settings.threshold = config.detect.threshold;
  settings.gate = config.detect.gate;
  settings.confidence = config.detect.confidence;
  settings.alpha =
      detect::alpha_of_budget(config.detect.false_incidents_per_year, series_a_night(config, plan));
  const bool asked_for = !plan.finds_incidents && plan.of_cells == 0;
  if (asked_for) settings.screen_pairs_min = kPairsForAnInterval;
  return settings;
}

SeriesSettings series_settings(const config::Config& config, const Plan& plan) {
  return {detect_settings(config, plan), config.detect.thresholds};
}

}  // namespace torchwatch::nightly
