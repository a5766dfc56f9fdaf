#include "learned_spread.hpp"

#include <cmath>

#include "recorded_noise.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::experiments {
namespace {

constexpr double kComparisonsOfCommon = 4;

/// Mean square about no change, divided by what the median comparison of normal noise shows of its
/// variance (Wilson and Hilferty), as comparisons of two pairs are mostly quieter than their noise.
double variance_of(const std::vector<double>& log_ratios) {
  const auto count = static_cast<double>(log_ratios.size());
  double squares = 0;
  for (const double value : log_ratios) squares += value * value;
  return squares / count / std::pow(1 - 2 / (9 * count), 3);
}

}  // namespace

double learned_pair_sd(const std::vector<std::vector<double>>& comparisons, double common) {
  if (comparisons.empty()) return common;
  std::vector<double> variances;
  for (const auto& log_ratios : comparisons) variances.push_back(variance_of(log_ratios));
  const auto count = static_cast<double>(comparisons.size());
  const double sum = kComparisonsOfCommon * common * common + count * median(variances);
  return std::sqrt(sum / (kComparisonsOfCommon + count));
}

std::vector<std::vector<double>> pairs_before(const SeriesComparison& comparison,
                                              std::size_t comparisons) {
  std::vector<std::vector<double>> pairs;
  for (std::size_t back = 2; back < comparisons + 2; ++back) {
    const std::size_t place = SeriesComparison::kJudged - back;
    auto runs = comparison.series->comparisons[comparison.comparisons[place - 1]];
    const auto& later = comparison.series->comparisons[comparison.comparisons[place]];
    runs.insert(runs.end(), later.begin(), later.end());
    pairs.push_back(detect::abba_log_ratios(runs));
  }
  return pairs;
}

}  // namespace torchwatch::experiments
