#include "signed_rank.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

namespace torchwatch::detect {
namespace {

constexpr int kExactPairs = 100;

/// Returns P(W = w) for w = 0, 1, ... up to the middle, behind which they repeat: each
/// rank 1..pairs counts with even chances.
std::vector<double> lower_half(int pairs) {
  const auto n = static_cast<std::size_t>(pairs);
  std::vector<double> chance(n * (n + 1) / 4 + 1, 0.0);
  chance[0] = 1;
  std::size_t reached = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    reached = std::min(reached + rank, chance.size() - 1);
    for (std::size_t w = reached + 1; w-- > rank;) chance[w] = (chance[w] + chance[w - rank]) / 2;
    for (std::size_t w = std::min(rank, reached + 1); w-- > 0;) chance[w] /= 2;
  }
  return chance;
}

std::optional<int> exact_cut(int pairs, double tail) {
  int cut = -1;
  double sum = 0;
  for (const double chance : lower_half(pairs)) {
    sum += chance;
    if (sum > tail) break;
    ++cut;
  }
  return cut < 0 ? std::nullopt : std::optional(cut);
}

std::optional<int> normal_cut(int pairs, double tail) {
  const double n = pairs;
  const double mean = n * (n + 1) / 4;
  const double sd = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  const double cut = mean + sd * boost::math::quantile(boost::math::normal(), tail) - 0.5;
  return cut < 0 ? std::nullopt : std::optional(static_cast<int>(cut));
}

}  // namespace

std::vector<double> walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      averages.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

std::optional<int> signed_rank_cut(int pairs, double tail) {
  if (pairs <= 0 || !(tail > 0)) return std::nullopt;
  tail = std::min(tail, 0.5);  // a larger tail would swap the bounds
  return pairs <= kExactPairs ? exact_cut(pairs, tail) : normal_cut(pairs, tail);
}

RankInterval rank_interval(const std::vector<double>& ascending_walsh_averages, int pairs,
                           double tail) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto cut = signed_rank_cut(pairs, tail);
  if (!cut) return {-kInfinity, kInfinity};
  const auto from_end = static_cast<std::size_t>(*cut);
  return {ascending_walsh_averages[from_end],
          ascending_walsh_averages[ascending_walsh_averages.size() - 1 - from_end]};
}

}  // namespace torchwatch::detect
