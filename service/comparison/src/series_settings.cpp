#include "torchwatch/comparison/series_settings.hpp"

#include <algorithm>

namespace torchwatch::comparison {
namespace {

/// The signed-rank test gives a 99 % interval from eight pairs on.
constexpr int kPairsForAnInterval = 8;

/// Returns how many series may raise a false incident on an average day. Comparisons with an older
/// nightly share the budget.
int series_per_nightly(const config::Config& config, int series) {
  const int every = config.detect.drift_every;
  return every > 0 ? series + (series + every - 1) / every : series;
}

}  // namespace

detect::Settings SeriesSettings::of(const Series& series) const {
  if (is_of_operator(series.benchmark)) return detect::settings_of_operator(common_);
  auto settings = common_;
  const auto* rule = config::entry_for(own_, series);
  if (rule == nullptr) return settings;
  if (series.metric == Metric::output_difference) {
    settings.output_tolerance = rule->threshold;
    return settings;
  }
  settings.gate *= rule->threshold / settings.threshold;
  settings.threshold = rule->threshold;
  // Who names the metric means it; a rule for all metrics of a noisy workload does not make what is
  // exact noisy.
  settings.exact_threshold = rule->of_exact(settings.exact_threshold);
  return settings;
}

Rule rule_of(const storage::ComparisonRow& row, const Plan& plan) {
  if (row.budget_series > 0) return {.budget_series = row.budget_series};
  return {.budget_series = series_count(plan), .wants_intervals = !row.opens_incidents};
}

detect::Settings detect_settings(const config::Config& config, const Rule& rule) {
  detect::Settings settings;
  settings.threshold = config.detect.threshold;
  settings.gate = config.detect.gate;
  settings.operator_threshold = config.detect.operator_threshold;
  settings.exact_threshold = config.detect.exact_threshold;
  settings.exact_floor_bytes = config.detect.exact_floor_bytes;
  settings.output_tolerance = config.detect.output_tolerance;
  settings.confidence = config.detect.confidence;
  settings.alpha =
      detect::alpha_of_budget(config.detect.false_incidents_per_year,
                              series_per_nightly(config, std::max(rule.budget_series, 1)));
  if (rule.wants_intervals) settings.screen_pairs_min = kPairsForAnInterval;
  return settings;
}

SeriesSettings series_settings(const config::Config& config, const Rule& rule) {
  return SeriesSettings(detect_settings(config, rule), config.detect.thresholds);
}

}  // namespace torchwatch::comparison
