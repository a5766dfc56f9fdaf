#include "learned_spread.hpp"

#include <cmath>

#include "recorded_noise.hpp"
#include "torchwatch/detect/estimate.hpp"

namespace torchwatch::benchmarks {
namespace {

constexpr double kNightsOfCommon = 4;

/// Mean square about no change, divided by what the median night of normal noise shows of its
/// variance (Wilson and Hilferty), as nights of two pairs are mostly quieter than their noise.
double variance_of(const std::vector<double>& log_ratios) {
  const auto count = static_cast<double>(log_ratios.size());
  double squares = 0;
  for (const double value : log_ratios) squares += value * value;
  return squares / count / std::pow(1 - 2 / (9 * count), 3);
}

}  // namespace

double learned_pair_sd(const std::vector<std::vector<double>>& nights, double common) {
  if (nights.empty()) return common;
  std::vector<double> variances;
  for (const auto& log_ratios : nights) variances.push_back(variance_of(log_ratios));
  const auto count = static_cast<double>(nights.size());
  const double sum = kNightsOfCommon * common * common + count * test::median(variances);
  return std::sqrt(sum / (kNightsOfCommon + count));
}

std::vector<std::vector<double>> pairs_before(const SeriesNight& night, std::size_t nights) {
  std::vector<std::vector<double>> pairs;
  for (std::size_t back = 2; back < nights + 2; ++back) {
    const std::size_t place = SeriesNight::kJudged - back;
    auto runs = night.series->nights[night.nights[place - 1]];
    const auto& later = night.series->nights[night.nights[place]];
    runs.insert(runs.end(), later.begin(), later.end());
    pairs.push_back(detect::abba_log_ratios(runs));
  }
  return pairs;
}

}  // namespace torchwatch::benchmarks
