#include "same_build_figures.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

using namespace torchwatch;
using namespace torchwatch::experiments;
using Catch::Matchers::WithinAbs;

namespace {

BenchmarkBlocks benchmark_with(Way way, std::vector<double> values) {
  BenchmarkBlocks benchmark;
  benchmark.ways[static_cast<std::size_t>(way)].values = std::move(values);
  return benchmark;
}

/// A noise of about 1 % whose neighbours differ.
std::vector<double> quiet_runs(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(1'000'000 + 10'000 * std::sin(7.0 * i));
  return values;
}

std::string line(const std::string& way, const std::string& values) {
  return R"({"way": ")" + way +
         R"(", "workload": "dlrm", "mode": "train", "threads": 1, "values_ns": )" + values +
         R"(, "seconds": 4.5, "placing_seconds": 2, "load": 1.5})" + "\n";
}

}  // namespace

TEST_CASE("blocks of a benchmark are read in their order, way by way") {
  std::istringstream lines(line("paper", "[1, 2, 3, 4]") + line("interleaved", "[5, 6, 7, 8]") +
                           line("paper", "[7, 8, 9, 10]"));
  const auto benchmarks = read_blocks(lines);
  REQUIRE(benchmarks);
  REQUIRE(benchmarks->size() == 1);
  const auto& paper = benchmarks->front().of(Way::paper);
  CHECK(paper.values == std::vector<double>{1, 2, 3, 4, 7, 8, 9, 10});
  CHECK(paper.blocks == 2);
  CHECK(paper.seconds == 9);
  CHECK(paper.placing_seconds == 4);
  CHECK(benchmarks->front().of(Way::interleaved).values == std::vector<double>{5, 6, 7, 8});
  CHECK(benchmarks->front().of(Way::apart).values.empty());
}

TEST_CASE("blocks recorded under the ways' earlier names are read") {
  std::istringstream lines(line("turns", "[5, 6, 7, 8]") + line("turns_fixed", "[1, 2, 3, 4]"));
  const auto benchmarks = read_blocks(lines);
  REQUIRE(benchmarks);
  CHECK(benchmarks->front().of(Way::interleaved).values == std::vector<double>{5, 6, 7, 8});
  CHECK(benchmarks->front().of(Way::interleaved_fixed).values == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("what a place in a block does is not taken for what a side does") {
  const auto block_of = [](const std::string& order, const std::string& values) {
    auto text = line("interleaved", values);
    return text.insert(1, R"("order": ")" + order + R"(", )");
  };
  // The second process of a pair takes 2 % longer, the two inner ones of a block 10 %.
  std::string recorded;
  for (int i = 0; i < 10; ++i) {
    recorded += block_of(i % 2 == 0 ? "abba" : "baab", "[1000, 1122, 1100, 1020]");
  }
  std::istringstream lines(recorded);
  const auto benchmarks = read_blocks(lines).value();
  const auto& benchmark = benchmarks.front();
  CHECK(shift(benchmark, Way::interleaved).ratio == Approx(1));
  const auto [second, inner] = places(benchmark, Way::interleaved);
  CHECK(second.ratio == Approx(1.02));
  CHECK(inner.ratio == Approx(1.1));
}

TEST_CASE("a recording without orders has blocks A B B A alone, where the place is the side") {
  std::istringstream lines(line("interleaved", "[100, 110, 110, 100]") +
                           line("interleaved", "[100, 110, 110, 100]"));
  const auto benchmarks = read_blocks(lines).value();
  CHECK(shift(benchmarks.front(), Way::interleaved).ratio == Approx(1.1));
  CHECK(places(benchmarks.front(), Way::interleaved).inner.ratio == Approx(1.1));
}

TEST_CASE("a line that is not a block is named") {
  auto other_order = line("paper", "[1, 2, 3, 4]");
  other_order.insert(1, R"("order": "aabb", )");
  for (const std::string& bad :
       {line("other", "[1, 2, 3, 4]"), line("paper", "[1, 2]"), std::string("{\n"), other_order}) {
    std::istringstream lines(line("paper", "[1, 2, 3, 4]") + bad);
    const auto benchmarks = read_blocks(lines);
    REQUIRE_FALSE(benchmarks);
    CHECK(benchmarks.error().message.starts_with("line 2: "));
  }
}

TEST_CASE("the paper's way compares each process with the next, or with every other") {
  const auto benchmark = benchmark_with(Way::paper, {100, 108, 100, 106, 100});
  const auto directly = paper_directly(benchmark);
  CHECK(directly.comparisons == 2);
  CHECK(directly.beyond == 1);
  CHECK(directly.regressed == 1);
  const auto all = paper_against_all(benchmark);
  CHECK(all.comparisons == 20);
  CHECK(all.beyond == 6);  // the one of 108 against the three of 100, either way
  CHECK(all.regressed == 3);
  CHECK(all.improved == 3);
}

TEST_CASE("comparisons of the protocol follow each other as far as the processes reach") {
  const auto benchmark = benchmark_with(Way::interleaved, quiet_runs(43));
  const auto outcomes = protocol_directly(benchmark, {});
  CHECK(outcomes.comparisons > 4);
  CHECK(outcomes.beyond == 0);
  CHECK(outcomes.regressed == 0);
  CHECK(outcomes.runs <= 43);
  CHECK(protocol_directly(benchmark_with(Way::interleaved, quiet_runs(3)), {}).comparisons == 0);
  CHECK(protocol_directly(BenchmarkBlocks{}, {}).comparisons == 0);
}

TEST_CASE("a slowdown of one side is found in drawn comparisons, none where there is none") {
  const auto benchmark = benchmark_with(Way::interleaved, quiet_runs(40));
  Random random(1);
  CHECK(protocol_resampled(benchmark, 1, 200, {}, random).regressed == 0);
  CHECK(protocol_resampled(benchmark, 1.15, 200, {}, random).regressed == 200);
  const auto least = least_change_found(benchmark, 0.98, 100, {}, random);
  REQUIRE(least);
  CHECK(least->change >= 0.055);  // the gate lies at 6 %
  CHECK(least->change <= 0.08);
  CHECK_FALSE(least_change_found(BenchmarkBlocks{}, 0.98, 100, {}, random));
}

TEST_CASE("the shift between two equal copies is that of the pairs of their blocks") {
  const std::vector<double> a_b_b_a{100, 102, 102, 100};
  std::vector<double> values;
  for (int i = 0; i < 4; ++i) values.insert(values.end(), a_b_b_a.begin(), a_b_b_a.end());
  CHECK_THAT(shift(benchmark_with(Way::fixed, values), Way::fixed).ratio, WithinAbs(1.02, 1e-12));
  CHECK(shift(benchmark_with(Way::fixed, values), Way::fixed).pairs == 8);
}

TEST_CASE("runs of a way that is not the service's make no comparison") {
  CHECK(protocol_directly(benchmark_with(Way::apart, quiet_runs(43)), {}).comparisons == 0);
}

TEST_CASE("twice the spread takes four times as long to know") {
  const auto seconds_with = [](double spread) {
    std::vector<double> values;
    for (int i = 0; i < 6; ++i) {
      for (const double value : {1.0, std::exp(spread), std::exp(-spread), 1.0}) {
        values.push_back(value);
      }
    }
    auto benchmark = benchmark_with(Way::interleaved, values);
    benchmark.ways[static_cast<std::size_t>(Way::interleaved)].seconds = 60;
    return seconds_to_know(benchmark, Way::interleaved, 0.01);
  };
  CHECK_THAT(seconds_with(0.02) / seconds_with(0.01), WithinAbs(4, 1e-9));
}

TEST_CASE("a group of pairs has the p-value of Student's t, and an unfinished group none") {
  // ln ratios 0.01, 0.02, 0.03 and 0.02: mean 0.02, standard error 0.00408248, t = 4.898979, 3
  // degrees.
  std::vector<double> values;
  for (const double ratio : {0.01, 0.02, 0.03, 0.02}) {
    const bool reverse = values.size() % 4 == 2;  // A B, then B A
    values.push_back(reverse ? std::exp(ratio) : 1);
    values.push_back(reverse ? 1 : std::exp(ratio));
  }
  values.insert(values.end(), {1, 1, 1, 1});
  const auto found = p_values(benchmark_with(Way::interleaved, values), Way::interleaved, 4);
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], WithinAbs(0.0162766, 1e-6));
}

TEST_CASE("pairs that never differ speak for nothing") {
  CHECK(p_values(benchmark_with(Way::apart, {5, 5, 5, 5}), Way::apart, 2).at(0) == 1);
}

TEST_CASE("each pair of the service's way is a comparison of its own") {
  const auto outcomes = pairs_directly(benchmark_with(Way::interleaved, {100, 108, 94, 100}), 0.07);
  CHECK(outcomes.comparisons == 2);
  CHECK(outcomes.beyond == 1);
  CHECK(outcomes.runs == 4);
}

TEST_CASE("comparisons that are drawn keep interleaved processes together") {
  // Pairs agree to the last digit, and differ from one another by tens of percent.
  std::vector<double> values;
  for (int pair = 0; pair < 40; ++pair) values.insert(values.end(), 2, 1000 + 37 * (pair * 7 % 40));
  Random random(1);
  const auto outcomes =
      protocol_resampled(benchmark_with(Way::interleaved, values), 1, 200, {}, random);
  CHECK(outcomes.comparisons == 200);
  CHECK(outcomes.beyond == 0);
  CHECK(outcomes.runs == 200 * 4);
}
