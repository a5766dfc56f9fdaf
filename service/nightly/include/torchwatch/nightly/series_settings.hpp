#pragma once

#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/nightly/plan.hpp"

namespace torchwatch::nightly {

/// Detection's settings of each series: those that all share, and the thresholds of single ones.
class SeriesSettings {
 public:
  /// Of several thresholds that fit a series the last holds.
  SeriesSettings(detect::Settings common, std::vector<config::SeriesThreshold> own = {})
      : common_(common), own_(std::move(own)) {}

  /// With a threshold of the series' own the gate lies as far below it as the common one does.
  detect::Settings of(const Target&) const;
  const detect::Settings& common() const { return common_; }

 private:
  detect::Settings common_;
  std::vector<config::SeriesThreshold> own_;
};

/// Detection's settings for a comparison of that plan: the configuration's, its budget of false
/// incidents divided over the plan's series. Without incidents somebody asked to compare, and wants
/// an interval for unchanged series too.
detect::Settings detect_settings(const config::Config&, const Plan&);

SeriesSettings series_settings(const config::Config&, const Plan&);

}  // namespace torchwatch::nightly
