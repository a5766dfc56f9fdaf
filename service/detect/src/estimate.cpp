#include "torchwatch/detect/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signed_rank.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::detect {
namespace {

void add_pair(double baseline, double candidate, std::vector<double>& log_ratios) {
  const double log_ratio = std::log(candidate) - std::log(baseline);
  if (baseline > 0 && candidate > 0 && std::isfinite(log_ratio)) log_ratios.push_back(log_ratio);
}

}  // namespace

Estimate estimate(std::span<const double> log_ratios, double confidence) {
  Estimate result;
  result.confidence = confidence;
  result.pairs = static_cast<int>(log_ratios.size());
  result.high = std::numeric_limits<double>::infinity();
  if (log_ratios.empty()) return result;
  const auto averages = walsh_averages(log_ratios);
  const auto interval = rank_interval(averages, result.pairs, (1 - confidence) / 2);
  result.ratio = std::exp(median(averages));
  result.low = std::exp(interval.low);
  result.high = std::exp(interval.high);
  result.pair_sd = robust_sd({log_ratios.begin(), log_ratios.end()});
  return result;
}

std::vector<double> abba_log_ratios(std::span<const double> values) {
  std::vector<double> log_ratios;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const bool is_second_half = i % 4 == 2;
    add_pair(values[is_second_half ? i + 1 : i], values[is_second_half ? i : i + 1], log_ratios);
  }
  return log_ratios;
}

}  // namespace torchwatch::detect
