#include "pair_rules.hpp"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "torchwatch/detect/series_judgement.hpp"

namespace torchwatch::experiments {
namespace {

std::size_t any_of(std::size_t count, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// Pairs of one series, all of them slower by `log_change`.
class FurtherPairs {
 public:
  FurtherPairs(std::span<const double> recorded, double log_change, Drawn drawn, Random& random)
      : recorded_(recorded),
        log_change_(log_change),
        drawn_(drawn),
        random_(random),
        next_(any_of(recorded.size(), random)) {}

  void operator()(std::vector<double>& log_ratios, int pairs) {
    while (static_cast<int>(log_ratios.size()) < pairs) log_ratios.push_back(next());
  }

 private:
  double next() {
    const double noise = recorded_[next_];
    next_ = drawn_ == Drawn::by_pair ? any_of(recorded_.size(), random_)
                                     : (next_ + 1) % recorded_.size();
    return noise + log_change_;
  }

  std::span<const double> recorded_;
  double log_change_;
  Drawn drawn_;
  Random& random_;
  std::size_t next_;
};

Series series_named(const std::string& name, const std::vector<double>& log_ratios,
                    std::size_t place) {
  test::RecordedComparison comparison;
  for (const double log_ratio : log_ratios) comparison.push_back({log_ratio});
  return {{name, {comparison}}, place};
}

std::string name_of(const BenchmarkBlocks& benchmark) {
  return benchmark.workload + " " + benchmark.mode + ", " + std::to_string(benchmark.threads);
}

}  // namespace

std::vector<Series> series_of_pairs(const std::vector<BenchmarkBlocks>& benchmarks,
                                    std::size_t pairs) {
  std::vector<Series> series;
  for (const auto& benchmark : benchmarks) {
    const auto log_ratios = detect::abba_log_ratios(benchmark.of(kWayOfService).values);
    if (log_ratios.size() < pairs) continue;
    series.push_back(series_named(name_of(benchmark), log_ratios, series.size()));
  }
  return series;
}

Result<std::vector<Series>> read_series_of_pairs(const std::vector<std::string>& files,
                                                 std::size_t pairs) {
  std::stringstream lines;
  for (const auto& name : files) {
    std::ifstream file(name);
    if (!file) return fail(ErrorCode::not_found, name + ": cannot be read");
    lines << file.rdbuf();
  }
  TW_TRY(const auto benchmarks, read_blocks(lines));
  auto series = series_of_pairs(benchmarks, pairs);
  if (series.empty()) {
    return fail(ErrorCode::invalid,
                "no series has " + std::to_string(pairs) + " interleaved pairs (--pairs)");
  }
  return series;
}

Series normal_pairs(double pair_sd, std::size_t place) {
  constexpr int kQuantiles = 20'000;
  const boost::math::normal normal(0, pair_sd);
  std::vector<double> log_ratios;
  for (int i = 0; i < kQuantiles; ++i) {
    log_ratios.push_back(boost::math::quantile(normal, (i + 0.5) / kQuantiles));
  }
  return series_named("normal", log_ratios, place);
}

Rule pair_rule(const detect::Settings& settings, Drawn drawn) {
  const auto judge = [settings, drawn](const SeriesComparison& comparison, std::size_t,
                                       Random& random) {
    const double log_change = std::log(comparison.slowdown);
    FurtherPairs screening(comparison.series->runs, log_change, drawn, random);
    FurtherPairs confirming(comparison.series->runs, log_change, drawn, random);
    const auto outcome = detect::judge_series(std::ref(screening), std::ref(confirming), settings);
    return std::vector{judgement_of(outcome, comparison.slowdown)};
  };
  return {"torchwatch", judge};
}

Sampling series_in_turn(std::span<const Series> series, double slowdown, long comparisons) {
  return {comparisons, series.size(), [series, slowdown](long number, Random&) {
            const auto place = static_cast<std::size_t>(number) % series.size();
            return SeriesComparison{&series[place], {}, slowdown};
          }};
}

LeastPairs least_pairs(double pair_sd, double change, double alpha, double beta) {
  const double effect = std::log1p(change) / pair_sd;
  const double pairs_of_unit = 2 / (effect * effect);
  const auto divergence = [](double error, double other) {
    return (1 - error) * std::log((1 - error) / other) + error * std::log(error / (1 - other));
  };
  return {pairs_of_unit * divergence(alpha, beta), pairs_of_unit * divergence(beta, alpha)};
}

}  // namespace torchwatch::experiments
