#include "peer_rules.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace torchwatch::experiments {
namespace {

Flag direction(double change) {
  return change > 0 ? Flag::slower : Flag::faster;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double middle_of_sorted(std::span<const double> ascending) {
  const auto size = ascending.size();
  return (ascending[(size - 1) / 2] + ascending[size / 2]) / 2;
}

/// Relative changes between neighbours, ascending.
std::vector<double> sizes_of_changes(std::span<const double> history) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i + 1 < history.size(); ++i) {
    sizes.push_back(std::abs(history[i] - history[i + 1]) / history[i]);
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// The lower half ends, and the upper begins, one value further out than the middle asks for.
double noise_barrier(std::span<const double> history) {
  constexpr double kInterquartileRanges = 3;
  const auto sizes = sizes_of_changes(history);
  const std::span all(sizes);
  const auto half = sizes.size() / 2;
  const auto lower = all.first(sizes.size() % 2 == 0 ? half - 1 : half);
  const auto upper = all.subspan(half + 1);
  const double q1 = middle_of_sorted(lower);
  const double q3 = middle_of_sorted(upper);
  return q3 + kInterquartileRanges * (q3 - q1);
}

/// The mean with the first push counting fully and the last least; the spread about it.
struct Weighted {
  double mean = 0;
  double variance = 0;
  double plain_mean = 0;
  std::size_t count = 0;
};

using Push = const std::vector<double>*;

Weighted weighted(const std::vector<Push>& nearest_first) {
  Weighted result;
  double weights = 0;
  const auto pushes = static_cast<double>(nearest_first.size());
  for (std::size_t i = 0; i < nearest_first.size(); ++i) {
    const double weight = (pushes - static_cast<double>(i)) / pushes;
    for (const double value : *nearest_first[i]) {
      result.mean += weight * value;
      result.plain_mean += value;
      weights += weight;
      ++result.count;
    }
  }
  result.mean /= weights;
  result.plain_mean /= static_cast<double>(result.count);
  for (const Push push : nearest_first) {
    for (const double value : *push) result.variance += std::pow(value - result.mean, 2);
  }
  if (result.count > 1) result.variance /= static_cast<double>(result.count - 1);
  return result;
}

/// What Perfherder knows of one push.
struct Score {
  double t = 0;
  double change = 0;  ///< of the plain means
  bool has_enough = false;
};

constexpr std::size_t kBackWindowMin = 12;
constexpr std::size_t kBackWindowMax = 24;
constexpr double kLeastT = 7;

/// The window before reaches further back the longer nothing was seen, counted in pushes; it is
/// full with 24 values.
std::vector<Push> back_window(std::span<const std::vector<double>> pushes, std::size_t at,
                              std::size_t since_change) {
  const auto reach = std::clamp(since_change, kBackWindowMin, kBackWindowMax);
  std::vector<Push> window;
  std::size_t values = 0;
  for (std::size_t back = 1; back <= std::min(reach, at) && values < kBackWindowMax; ++back) {
    window.push_back(&pushes[at - back]);
    values += window.back()->size();
  }
  return window;
}

std::vector<Push> fore_window(std::span<const std::vector<double>> pushes, std::size_t at) {
  std::vector<Push> window;
  std::size_t values = 0;
  for (; at < pushes.size() && values < kPerfherderForeWindow; ++at) {
    window.push_back(&pushes[at]);
    values += window.back()->size();
  }
  return window;
}

Score score_of(const Weighted& before, const Weighted& after) {
  Score score;
  const double difference = after.mean - before.mean;
  const double error = std::sqrt(before.variance / static_cast<double>(before.count) +
                                 after.variance / static_cast<double>(after.count));
  if (difference != 0) {
    score.t = error > 0 ? std::abs(difference) / error : std::numeric_limits<double>::infinity();
  }
  score.change = after.plain_mean / before.plain_mean - 1;
  score.has_enough = before.count >= kBackWindowMin && after.count >= kPerfherderForeWindow;
  return score;
}

std::vector<Score> scores_of(std::span<const std::vector<double>> pushes) {
  std::vector<Score> scores(pushes.size());
  std::size_t since_change = 0;
  for (std::size_t at = 1; at < pushes.size(); ++at) {
    scores[at] = score_of(weighted(back_window(pushes, at, since_change)),
                          weighted(fore_window(pushes, at)));
    since_change = scores[at].t > kLeastT ? 0 : since_change + 1;
  }
  return scores;
}

bool is_change(const std::vector<Score>& scores, std::size_t at) {
  constexpr double kLeastChange = 0.02;
  const Score& score = scores[at];
  if (!score.has_enough || score.t <= kLeastT || scores[at - 1].t > score.t) return false;
  if (at + 1 < scores.size() && scores[at + 1].t > score.t) return false;
  return std::abs(score.change) >= kLeastChange;
}

}  // namespace

Flag torchbench(double before, double now) {
  constexpr double kThreshold = 0.07;
  const double change = (now - before) / before;
  return std::abs(change) > kThreshold ? direction(change) : Flag::none;
}

Flag rustc_perf(std::span<const double> history, double before, double now) {
  constexpr double kWithoutHistory = 0.002;
  const double barrier =
      history.size() < kRustcPerfHistory ? kWithoutHistory : noise_barrier(history);
  const double change = (now - before) / before;
  return std::abs(change) >= barrier ? direction(change) : Flag::none;
}

Flag t_prediction(std::span<const double> history, double now) {
  constexpr double kTail = 0.01;
  const auto n = static_cast<double>(history.size());
  const double mean = mean_of(history);
  double squares = 0;
  for (const double value : history) squares += (value - mean) * (value - mean);
  const boost::math::students_t distribution(n - 1);
  const double reach = boost::math::quantile(boost::math::complement(distribution, kTail)) *
                       std::sqrt(squares / (n - 1) * (1 + 1 / n));
  return std::abs(now - mean) > reach ? direction(now - mean) : Flag::none;
}

std::vector<Flag> perfherder(std::span<const std::vector<double>> pushes) {
  std::vector<Flag> flags(pushes.size(), Flag::none);
  const auto scores = scores_of(pushes);
  for (std::size_t at = 1; at < pushes.size(); ++at) {
    if (is_change(scores, at)) flags[at] = direction(scores[at].change);
  }
  return flags;
}

}  // namespace torchwatch::experiments
