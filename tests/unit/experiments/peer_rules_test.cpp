#include "peer_rules.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch::experiments;

namespace {

/// 30 values whose neighbours differ by 1, 2, ... 29 per cent of the first of the two.
std::vector<double> growing_changes() {
  std::vector<double> values{100};
  for (int percent = 1; percent < 30; ++percent) {
    values.push_back(values.back() * (1 + percent / 100.0));
  }
  return values;
}

std::vector<std::vector<double>> pushes(std::size_t before, std::size_t after, double slower,
                                        double spread) {
  std::vector<std::vector<double>> result(before, {100 - spread, 100, 100 + spread});
  const double level = 100 * slower;
  result.insert(result.end(), after, {level - spread, level, level + spread});
  return result;
}

}  // namespace

TEST_CASE("TorchBench flags more than 7 % of the value before, either way") {
  CHECK(torchbench(100, 106.9) == Flag::none);
  CHECK(torchbench(100, 107.1) == Flag::slower);
  CHECK(torchbench(100, 93.1) == Flag::none);
  CHECK(torchbench(100, 92.9) == Flag::faster);
}

TEST_CASE("rustc-perf's barrier lies three interquartile ranges above the third quartile") {
  // Changes of 1 to 29 %: without the middle one, the halves' middles are 7.5 and 22.5 %.
  const double barrier = 0.225 + 3 * (0.225 - 0.075);
  const auto history = growing_changes();
  CHECK(rustc_perf(history, 100, 100 * (1 + barrier - 0.001)) == Flag::none);
  CHECK(rustc_perf(history, 100, 100 * (1 + barrier + 0.001)) == Flag::slower);
  CHECK(rustc_perf(history, 100, 100 * (1 - barrier - 0.001)) == Flag::faster);
}

TEST_CASE("rustc-perf without a whole history takes 0.2 %") {
  const std::vector<double> short_history(kRustcPerfHistory - 1, 100);
  CHECK(rustc_perf(short_history, 1000, 1001.9) == Flag::none);
  CHECK(rustc_perf(short_history, 1000, 1002.1) == Flag::slower);
}

TEST_CASE("a prediction interval widens a t interval by the new value's own spread") {
  // {9, 10, 11} have mean 10, sd 1; t beyond 1 % with two degrees of freedom is 6.9646.
  const std::vector<double> history{9, 10, 11};
  const double reach = 6.9646 * std::sqrt(1 + 1.0 / 3);
  CHECK(t_prediction(history, 10 + reach - 0.001) == Flag::none);
  CHECK(t_prediction(history, 10 + reach + 0.001) == Flag::slower);
  CHECK(t_prediction(history, 10 - reach - 0.001) == Flag::faster);
}

TEST_CASE("Perfherder flags the push of the change and no other, once it has 12 values") {
  const auto flags = perfherder(pushes(8, 4, 1.10, 1));
  for (std::size_t at = 0; at < flags.size(); ++at) {
    CAPTURE(at);
    CHECK(flags[at] == (at == 8 ? Flag::slower : Flag::none));
  }
  const auto too_early = perfherder(pushes(8, 3, 1.10, 1));
  CHECK(std::count(too_early.begin(), too_early.end(), Flag::none) == 11);
  const auto too_little_before = perfherder(pushes(3, 4, 1.10, 1));
  CHECK(std::count(too_little_before.begin(), too_little_before.end(), Flag::none) == 7);
}

TEST_CASE("Perfherder leaves changes below 2 % alone, however clear, and knows improvements") {
  CHECK(perfherder(pushes(8, 4, 1.015, 0.001))[8] == Flag::none);
  CHECK(perfherder(pushes(8, 4, 1.025, 0.001))[8] == Flag::slower);
  CHECK(perfherder(pushes(8, 4, 0.9, 1))[8] == Flag::faster);
}

TEST_CASE("Perfherder's means are weighted towards the change") {
  // One value a push. Plain means differ by 10, t is 6.5; weighted ones by 11.7, t is 7.3.
  std::vector<std::vector<double>> values;
  for (int i = 0; i < 12; ++i) values.push_back({i % 2 == 0 ? 102.4 : 97.6});
  values.insert(values.end(), 10, {112});
  values.insert(values.end(), 2, {100});
  CHECK(perfherder(values)[12] == Flag::slower);
}
