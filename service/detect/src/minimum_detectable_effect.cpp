#include "torchwatch/detect/minimum_detectable_effect.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "detectable.hpp"
#include "torchwatch/detect/series_judgement.hpp"

namespace torchwatch::detect {
namespace {

constexpr int kComparisons = 200;
constexpr double kFound = 0.9;
constexpr double kLargest = 1.0;  // a doubling
constexpr double kResolution = 0.0025;

/// Pairs of a series that is slower by `log_change`.
class Pairs {
 public:
  Pairs(std::span<const double> same_build, double log_change, std::uint64_t seed)
      : same_build_(same_build), log_change_(log_change), random_(seed) {}

  void extend(std::vector<double>& pairs, int to) {
    while (static_cast<int>(pairs.size()) < to) pairs.push_back(next());
  }

 private:
  double next() {
    std::uniform_int_distribution<std::size_t> any(0, same_build_.size() - 1);
    const double noise = same_build_[any(random_)];
    return log_change_ + (random_() % 2 == 0 ? noise : -noise);
  }

  std::span<const double> same_build_;
  double log_change_;
  std::mt19937_64 random_;
};

struct Comparisons {
  double found = 0;  ///< share
  double runs = 0;   ///< mean
};

/// Tries every change on the same draws, so that the share found grows with the change.
Comparisons comparisons_with(std::span<const double> same_build, double change,
                             const Settings& settings, std::uint64_t seed) {
  Comparisons all;
  for (int i = 0; i < kComparisons; ++i) {
    Pairs pairs(same_build, std::log1p(change), seed + static_cast<std::uint64_t>(i));
    const auto more = [&pairs](std::vector<double>& list, int to) { pairs.extend(list, to); };
    const auto comparison = judge_series(more, more, settings);
    all.found += comparison.verdict == Verdict::regressed ? 1.0 / kComparisons : 0;
    all.runs += static_cast<double>(comparison.runs()) / kComparisons;
  }
  return all;
}

/// That many pairs without a change, spread as the given ones are: each size with either sign.
std::vector<double> symmetric_pairs(std::span<const double> same_build, int count) {
  std::vector<double> sizes;
  for (const double pair : same_build) sizes.push_back(std::abs(pair));
  std::ranges::sort(sizes);
  std::vector<double> pairs;
  const int halves = count / 2;
  for (int i = 0; i < halves; ++i) {
    const double quantile = (i + 0.5) / halves;
    const double size =
        sizes[static_cast<std::size_t>(quantile * static_cast<double>(sizes.size()))];
    pairs.insert(pairs.end(), {size, -size});
  }
  return pairs;
}

}  // namespace

MinimumDetectableEffect estimate_minimum_detectable_effect(
    std::span<const double> same_build_log_ratios, const Settings& settings, std::uint64_t seed) {
  const auto comparisons = [&](double change) {
    return comparisons_with(same_build_log_ratios, change, settings, seed);
  };
  MinimumDetectableEffect effect;
  effect.runs_unchanged = comparisons(0).runs;
  const auto doubled = comparisons(kLargest);
  effect.runs_changed = doubled.runs;
  effect.change = std::numeric_limits<double>::infinity();
  if (doubled.found < kFound) return effect;
  double missed = 0;
  double found = kLargest;
  while (found - missed > kResolution) {
    const double middle = (missed + found) / 2;
    const auto there = comparisons(middle);
    if (there.found < kFound) {
      missed = middle;
      continue;
    }
    found = middle;
    effect.runs_changed = there.runs;
  }
  effect.change = found;
  return effect;
}

double predict_minimum_detectable_effect(std::span<const double> same_build_log_ratios,
                                         const Settings& settings) {
  const auto screened = symmetric_pairs(same_build_log_ratios, settings.screen_pairs_max);
  const auto confirmed = symmetric_pairs(same_build_log_ratios, settings.confirm_pairs_max);
  return std::max(suspected_from(screened, settings), confirmed_from(confirmed, settings));
}

}  // namespace torchwatch::detect
