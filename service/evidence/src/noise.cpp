#include "torchwatch/evidence/noise.hpp"

#include <cmath>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/minimum_detectable_effect.hpp"

namespace torchwatch::evidence {
namespace {

using storage::RunValue;

constexpr std::size_t kPairsMin = 4;  ///< fewer say nothing about noise
constexpr int kRunsRead = 200;
constexpr double kDoubling = 1;  ///< beyond it a figure would say nothing

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
  const double effect = detect::predict_minimum_detectable_effect(ratios, settings);
  if (effect <= kDoubling) noise.minimum_detectable_effect = effect;
  return noise;
}

Result<std::optional<Noise>> read_noise(storage::Database& database, const Series& series,
                                        const detect::Settings& settings) {
  using HistoryOf = storage::RunStore::HistoryOf;
  TW_TRY(const auto values,
         storage::RunStore(database).history(series, kRunsRead, HistoryOf::published_builds));
  return noise_of(series, values, settings);
}

}  // namespace torchwatch::evidence
