#include "torchwatch/evidence/side_by_side.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "torchwatch/records/statistics.hpp"

namespace torchwatch::evidence {
namespace {

constexpr std::size_t kRunsMin = 3;
constexpr int kResamples = 2'000;
constexpr std::uint64_t kSeed = 20261125;
constexpr double kTail = 0.025;

using Times = std::vector<double>;

Times times_in(const std::vector<std::int64_t>& values) {
  Times times;
  for (const auto value : values) {
    if (value > 0) times.push_back(static_cast<double>(value));
  }
  return times;
}

/// The median of as many values, drawn with replacement.
double resampled_median(const Times& times, std::mt19937_64& random) {
  Times drawn(times.size());
  for (auto& each : drawn) each = times[random() % times.size()];
  return median(std::move(drawn));
}

/// The interval that leaves out as much at both ends.
ClassRatio with_interval(double ratio, std::vector<double> log_ratios) {
  if (log_ratios.empty()) return {ratio, 0, std::numeric_limits<double>::infinity()};
  std::ranges::sort(log_ratios);
  const auto at = [&](double share) {
    const auto last = static_cast<double>(log_ratios.size() - 1);
    return std::exp(log_ratios[static_cast<std::size_t>(std::lround(share * last))]);
  };
  return {ratio, at(kTail), at(1 - kTail)};
}

/// The log-ratios of resampled medians; none where a side has too few runs.
std::vector<double> resampled(const Times& a, const Times& b, std::mt19937_64& random) {
  std::vector<double> log_ratios;
  if (std::min(a.size(), b.size()) < kRunsMin) return log_ratios;
  for (int i = 0; i < kResamples; ++i) {
    log_ratios.push_back(std::log(resampled_median(b, random) / resampled_median(a, random)));
  }
  return log_ratios;
}

}  // namespace

SideBySide side_by_side(const std::vector<storage::ClassValues>& values, storage::Id a,
                        storage::Id b) {
  std::map<Benchmark, std::pair<Times, Times>> sides;
  for (const auto& each : values) {
    if (each.machine_class == a) sides[each.benchmark].first = times_in(each.values);
    if (each.machine_class == b) sides[each.benchmark].second = times_in(each.values);
  }
  SideBySide result;
  std::mt19937_64 random(kSeed);
  std::vector<double> sums(kResamples, 0.0);
  bool is_mean_known = true;
  double sum = 0;
  for (const auto& [benchmark, both] : sides) {
    const auto& [of_a, of_b] = both;
    if (of_b.empty()) result.only_a.push_back(benchmark);
    if (of_a.empty()) result.only_b.push_back(benchmark);
    if (of_a.empty() || of_b.empty()) continue;
    OnBoth compared{.benchmark = benchmark,
                    .a = median(of_a),
                    .b = median(of_b),
                    .runs_a = of_a.size(),
                    .runs_b = of_b.size()};
    const auto log_ratios = resampled(of_a, of_b, random);
    compared.ratio = with_interval(compared.b / compared.a, log_ratios);
    sum += std::log(compared.ratio.ratio);
    is_mean_known = is_mean_known && !log_ratios.empty();
    for (std::size_t i = 0; i < log_ratios.size(); ++i) sums[i] += log_ratios[i];
    result.benchmarks.push_back(std::move(compared));
  }
  if (result.benchmarks.empty()) return result;
  const auto count = static_cast<double>(result.benchmarks.size());
  for (auto& each : sums) each /= count;
  if (!is_mean_known) sums.clear();
  result.mean = with_interval(std::exp(sum / count), std::move(sums));
  std::ranges::sort(result.benchmarks, {}, [](const OnBoth& each) { return each.ratio.ratio; });
  return result;
}

}  // namespace torchwatch::evidence
