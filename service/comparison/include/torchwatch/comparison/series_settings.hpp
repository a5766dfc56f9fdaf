#pragma once

#include <vector>

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// The settings of detection for each series: common ones, and the thresholds for individual
/// series.
class SeriesSettings {
 public:
  /// The last threshold that fits a series applies.
  explicit SeriesSettings(detect::Settings common, std::vector<config::SeriesThreshold> own = {})
      : common_(common), own_(std::move(own)) {}

  /// Returns the settings of a series. The gate keeps its ratio to the threshold. A threshold that
  /// names the metric holds for exact values, too; one for any metric does where it is lower.
  /// Operators have a threshold of their own, whatever is set for single series.
  detect::Settings of(const Series&) const;
  const detect::Settings& common() const { return common_; }

 private:
  detect::Settings common_;
  std::vector<config::SeriesThreshold> own_;
};

/// The rule by which the series of a comparison are judged.
struct Rule {
  /// Number of series that share the budget of false incidents.
  int budget_series = 1;
  /// Unchanged series get an interval, too, because a person requested the comparison.
  bool wants_intervals = false;
};

/// Returns the rule of a comparison. Its series share the budget, unless it has a number of its
/// own.
Rule rule_of(const storage::ComparisonRow&, const Plan&);

/// Returns the configured settings of detection, with the budget of false incidents divided among
/// the series of that rule.
detect::Settings detect_settings(const config::Config&, const Rule&);

/// Returns the same settings with the thresholds for individual series.
SeriesSettings series_settings(const config::Config&, const Rule&);

}  // namespace torchwatch::comparison
