#include "torchwatch/evidence/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/minimum_detectable_effect.hpp"
#include "torchwatch/documents/block.hpp"

namespace torchwatch::evidence {
namespace {

using storage::RunValue;

constexpr std::size_t kBlocksMin = 4;  ///< fewer say nothing about noise
constexpr int kRunsRead = 200;
constexpr double kDoubling = 1;  ///< beyond it a figure would say nothing

/// Pairs of a build with itself, as the rules of times see them: what the two pairs of a block
/// differ by, over √2, scatters as one pair does, and what lies between the two builds cancels.
std::vector<double> same_build_log_ratios(const std::vector<RunValue>& values) {
  std::map<std::pair<storage::Id, std::string>, std::array<double, comparison::Block::kRuns>>
      blocks;
  for (const auto& run : values) {
    if (!run.comparison || !comparison::parse_slot(run.slot)) continue;
    const auto of_block = run.slot.substr(0, run.slot.size() - 1);
    const auto position = static_cast<std::size_t>(run.slot.back() - '0');
    blocks[{*run.comparison, of_block}].at(position) = static_cast<double>(run.value);
  }
  std::vector<double> ratios;
  for (const auto& [place, runs] : blocks) {
    if (std::ranges::any_of(runs, [](double value) { return value <= 0; })) continue;
    // The second pair is in the other order: the sum of the steps is the difference of the pairs.
    ratios.push_back(std::log(runs[1] / runs[0] * runs[3] / runs[2]) / std::numbers::sqrt2);
  }
  return ratios;
}

}  // namespace

std::optional<Noise> noise_of(const Series& series, const std::vector<RunValue>& values,
                              const detect::Settings& settings) {
  const auto ratios = same_build_log_ratios(values);
  if (ratios.size() < kBlocksMin) return std::nullopt;
  Noise noise{.pairs = 2 * ratios.size(),
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
