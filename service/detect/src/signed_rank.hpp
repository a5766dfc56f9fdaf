#pragma once

#include <optional>
#include <span>
#include <vector>

namespace torchwatch::detect {

/// Returns all means of two differences, (d_i + d_j) / 2 with i <= j, ascending.
std::vector<double> walsh_averages(std::span<const double> differences);

/// Returns the greatest w with P(W <= w) <= tail for the signed-rank statistic W of `pairs` pairs,
/// or nothing when P(W = 0) = 2^-pairs is more. Exact up to 100 pairs, then approximately normal.
std::optional<int> signed_rank_cut(int pairs, double tail);

struct RankInterval {
  double low;   ///< -infinity when the pairs are too few
  double high;  ///< infinity when the pairs are too few
};

/// Returns both one-sided bounds of the centre, each wrong with a probability of at most `tail`:
/// the centres that a signed-rank test does not reject (the Walsh averages between the cuts).
RankInterval rank_interval(const std::vector<double>& ascending_walsh_averages, int pairs,
                           double tail);

}  // namespace torchwatch::detect
