#include "torchwatch/evidence/noise.hpp"

#include <cmath>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/minimum_detectable_effect.hpp"

namespace torchwatch::evidence {
namespace {

using storage::RunValue;

constexpr std::size_t kPairsMin = 4;  ///< fewer say nothing about noise
constexpr int kRunsRead = 200;

/// Pairs of successive runs of one build, as the rules of times see them.
std::vector<double> same_build_log_ratios(const std::vector<RunValue>& values) {
  std::vector<double> ratios;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto& [before, after] = std::pair{values[i - 1], values[i]};
    if (before.build != after.build || before.value <= 0 || after.value <= 0) continue;
    ratios.push_back(
        std::log(static_cast<double>(after.value) / static_cast<double>(before.value)));
  }
  return ratios;
}

}  // namespace

std::optional<Noise> noise_of(const Series& series, const std::vector<RunValue>& values,
                              const detect::Settings& settings) {
  const auto ratios = same_build_log_ratios(values);
  if (ratios.size() < kPairsMin) return std::nullopt;
  Noise noise{.pairs = ratios.size(),
              .spread = detect::estimate(ratios, settings.confidence).pair_sd};
  if (series.metric != Metric::time) return noise;
  const auto effect = detect::estimate_minimum_detectable_effect(ratios, settings);
  if (std::isfinite(effect.change)) noise.minimum_detectable_effect = effect.change;
  return noise;
}

Result<std::optional<Noise>> NoiseFigures::of(const Series& series) {
  TW_TRY(const auto settings, settings_of_(series));
  TW_TRY(const auto values, storage::RunStore(database_).history(
                                series, kRunsRead, storage::RunStore::HistoryOf::published_builds));
  if (values.empty()) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  auto& known = known_[series];
  const auto newest = values.back().attempt;
  if (known.newest_run == newest && known.alpha == settings.alpha) return known.noise;
  known = {newest, settings.alpha, noise_of(series, values, settings)};
  return known.noise;
}

}  // namespace torchwatch::evidence
