#include "same_build_figures.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "peer_rules.hpp"
#include "simulated_series.hpp"

namespace torchwatch::experiments {
namespace {

using nlohmann::json;

constexpr double kConfidence = 0.99;
constexpr double kNormal99 = 2.5758293;  // two-sided

constexpr std::array<std::size_t, 4> kAsTheyAre{0, 1, 2, 3};
constexpr std::array<std::size_t, 4> kExchanged{1, 0, 3, 2};

Way way_of(const std::string& name) {
  // As recordings made before the ways were renamed call them.
  if (name == "turns") return Way::interleaved;
  if (name == "turns_fixed") return Way::interleaved_fixed;
  const auto* const found = std::find(kWayNames.begin(), kWayNames.end(), name);
  if (found == kWayNames.end()) throw std::invalid_argument("no way \"" + name + "\"");
  return static_cast<Way>(found - kWayNames.begin());
}

BenchmarkBlocks& benchmark_of(std::vector<BenchmarkBlocks>& benchmarks, const json& row) {
  const auto workload = row.at("workload").get<std::string>();
  const auto mode = row.at("mode").get<std::string>();
  const int threads = row.at("threads").get<int>();
  for (auto& benchmark : benchmarks) {
    if (benchmark.workload == workload && benchmark.mode == mode && benchmark.threads == threads)
      return benchmark;
  }
  return benchmarks.emplace_back(BenchmarkBlocks{workload, mode, threads, {}});
}

void add_block(std::vector<BenchmarkBlocks>& benchmarks, const json& row) {
  const auto way = way_of(row.at("way").get<std::string>());
  const auto values = row.at("values_ns").get<std::vector<double>>();
  if (values.size() != 4) {
    throw std::invalid_argument("a block of " + std::to_string(values.size()) + " values");
  }
  // Recordings made before blocks had an order of their own are A B B A alone.
  const auto order = row.value("order", "abba");
  if (order != "abba" && order != "baab") throw std::invalid_argument("no order \"" + order + "\"");
  const bool is_baab = order == "baab";
  auto& blocks = benchmark_of(benchmarks, row).ways[static_cast<std::size_t>(way)];
  for (const std::size_t position : is_baab ? kExchanged : kAsTheyAre) {
    blocks.values.push_back(values[position]);
  }
  blocks.is_baab.push_back(is_baab);
  blocks.seconds += row.at("seconds").get<double>();
  blocks.placing_seconds += row.at("placing_seconds").get<double>();
  blocks.load_sum += row.at("load").get<double>();
  ++blocks.blocks;
}

void count(Outcomes& outcomes, double ratio, Verdict verdict, int runs, double threshold) {
  ++outcomes.comparisons;
  if (std::abs(std::log(ratio)) > std::log1p(threshold)) ++outcomes.beyond;
  if (verdict == Verdict::regressed) ++outcomes.regressed;
  if (verdict == Verdict::improved) ++outcomes.improved;
  outcomes.runs += runs;
}

void compare_by_paper(Outcomes& outcomes, double before, double now) {
  const Flag flag = torchbench(before, now);
  ++outcomes.comparisons;
  if (flag != Flag::none) ++outcomes.beyond;
  if (flag == Flag::slower) ++outcomes.regressed;
  if (flag == Flag::faster) ++outcomes.improved;
  outcomes.runs += 2;
}

/// The processes as one recorded comparison, for those who draw from it.
Series series_of(const BenchmarkBlocks& benchmark) {
  test::RecordedComparison comparison;
  for (const double value : benchmark.of(kWayOfService).values) comparison.push_back({value});
  Series series({benchmark.workload, {comparison}}, 0);
  series.alive_at_once = 2;
  return series;
}

/// Gives one process after the other; once there are none left, says so and repeats the last.
class InTurn {
 public:
  explicit InTurn(const std::vector<double>& values) : values_(values) {}
  double operator()() {
    if (next_ == values_.size()) ran_out_ = true;
    return ran_out_ ? values_.back() : values_[next_++];
  }
  [[nodiscard]] bool ran_out() const { return ran_out_; }

 private:
  const std::vector<double>& values_;
  std::size_t next_ = 0;
  bool ran_out_ = false;
};

std::vector<double> log_ratios(const BenchmarkBlocks& benchmark, Way way) {
  return detect::abba_log_ratios(benchmark.of(way).values);
}

double p_value(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (squares <= 0) return mean == 0 ? 1 : 0;
  const double t = mean / std::sqrt(squares / (n * (n - 1)));
  const boost::math::students_t_distribution<double> student(n - 1);
  return 2 * boost::math::cdf(boost::math::complement(student, std::abs(t)));
}

}  // namespace

Result<std::vector<BenchmarkBlocks>> read_blocks(std::istream& lines) {
  std::vector<BenchmarkBlocks> benchmarks;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      add_block(benchmarks, json::parse(line));
    } catch (const std::exception& error) {
      return fail(ErrorCode::corrupt, "line " + std::to_string(number) + ": " + error.what());
    }
  }
  return benchmarks;
}

Outcomes& Outcomes::operator+=(const Outcomes& other) {
  comparisons += other.comparisons;
  beyond += other.beyond;
  regressed += other.regressed;
  improved += other.improved;
  runs += other.runs;
  return *this;
}

Outcomes paper_directly(const BenchmarkBlocks& benchmark) {
  const auto& values = benchmark.of(Way::paper).values;
  Outcomes outcomes;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    compare_by_paper(outcomes, values[i], values[i + 1]);
  }
  return outcomes;
}

Outcomes paper_against_all(const BenchmarkBlocks& benchmark) {
  const auto& values = benchmark.of(Way::paper).values;
  Outcomes outcomes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (i != j) compare_by_paper(outcomes, values[i], values[j]);
    }
  }
  return outcomes;
}

Outcomes pairs_directly(const BenchmarkBlocks& benchmark, double threshold) {
  Outcomes outcomes;
  for (const double log_ratio : log_ratios(benchmark, kWayOfService)) {
    count(outcomes, std::exp(log_ratio), Verdict::unchanged, 2, threshold);
  }
  return outcomes;
}

Outcomes protocol_directly(const BenchmarkBlocks& benchmark, const detect::Settings& settings) {
  Outcomes outcomes;
  if (benchmark.of(kWayOfService).values.empty()) return outcomes;
  InTurn next(benchmark.of(kWayOfService).values);
  while (true) {
    const auto comparison =
        detect::judge_simulated_series(std::ref(next), std::ref(next), 1, settings);
    if (next.ran_out()) return outcomes;
    count(outcomes, comparison.estimate.ratio, comparison.verdict, comparison.runs(),
          settings.threshold);
  }
}

Outcomes protocol_resampled(const BenchmarkBlocks& benchmark, double slowdown, long comparisons,
                            const detect::Settings& settings, Random& random) {
  Outcomes outcomes;
  if (benchmark.of(kWayOfService).values.empty()) return outcomes;
  const Series series = series_of(benchmark);
  for (long i = 0; i < comparisons; ++i) {
    RunsElsewhere screening(series, {}, random);
    RunsElsewhere confirming(series, {}, random);
    const auto comparison = detect::judge_simulated_series(
        std::ref(screening), std::ref(confirming), slowdown, settings);
    count(outcomes, comparison.estimate.ratio, comparison.verdict, comparison.runs(),
          settings.threshold);
  }
  return outcomes;
}

std::optional<Power> least_change_found(const BenchmarkBlocks& benchmark, double share,
                                        long comparisons, const detect::Settings& settings,
                                        Random& random) {
  for (int half_percents = 6; half_percents <= 60; ++half_percents) {
    const double change = half_percents / 200.0;
    const auto outcomes = protocol_resampled(benchmark, 1 + change, comparisons, settings, random);
    if (outcomes.comparisons == 0) return std::nullopt;
    const auto wanted = share * static_cast<double>(outcomes.comparisons);
    if (static_cast<double>(outcomes.regressed) >= wanted) return Power{change, outcomes};
  }
  return std::nullopt;
}

detect::Estimate shift(const BenchmarkBlocks& benchmark, Way way) {
  return detect::estimate(log_ratios(benchmark, way), kConfidence);
}

Places places(const BenchmarkBlocks& benchmark, Way way) {
  const auto& blocks = benchmark.of(way);
  std::vector<double> second;
  std::vector<double> inner;
  for (std::size_t block = 0; block < blocks.is_baab.size(); ++block) {
    // B over A: of A B B A that is second over first, then first over second; inner over outer.
    const double sign = blocks.is_baab[block] ? -1 : 1;
    const auto pairs = detect::abba_log_ratios(std::span(blocks.values).subspan(4 * block, 4));
    if (pairs.size() != 2) continue;  // a run has no value
    second.insert(second.end(), {sign * pairs[0], -sign * pairs[1]});
    inner.insert(inner.end(), {sign * pairs[0], sign * pairs[1]});
  }
  return {detect::estimate(second, kConfidence), detect::estimate(inner, kConfidence)};
}

std::vector<double> p_values(const BenchmarkBlocks& benchmark, Way way, int group) {
  const auto pairs = log_ratios(benchmark, way);
  const auto size = static_cast<std::size_t>(group);
  std::vector<double> found;
  for (std::size_t i = 0; i + size <= pairs.size(); i += size) {
    found.push_back(p_value(std::span(pairs).subspan(i, size)));
  }
  return found;
}

double seconds_to_know(const BenchmarkBlocks& benchmark, Way way, double half_width) {
  const auto found = shift(benchmark, way);
  const double reach = kNormal99 * found.pair_sd / std::log1p(half_width);
  return reach * reach * benchmark.of(way).seconds / found.pairs;
}

}  // namespace torchwatch::experiments
