#include "detection_counts.hpp"

#include <catch2/catch.hpp>

#include "recorded_noise.hpp"

using namespace torchwatch;
using namespace torchwatch::experiments;

namespace {

std::vector<Series> recorded_series() {
  const auto recording = test::read_recording(test::excerpt());
  REQUIRE(recording);
  std::vector<Series> series;
  for (const auto& recorded : *recording) series.emplace_back(recorded, series.size());
  return series;
}

Sampling drawn(const std::vector<Series>& series, long comparisons, double slowdown) {
  return {comparisons, series.size(), [&series, slowdown](long number, Random& random) {
            const auto at = static_cast<std::size_t>(number) % series.size();
            return drawn_comparison(series[at], slowdown, random);
          }};
}

}  // namespace

TEST_CASE("the counts do not depend on the number of threads, but on the seed") {
  const auto series = recorded_series();
  const auto rules = detection_rules(detect::Settings{}, 3);
  const auto sampling = drawn(series, 5'000, 1.07);
  const auto slower = [&](Seed seed, unsigned threads) {
    std::vector<long> hits;
    for (const auto& by_workload : judge_all(rules, sampling, seed, threads)) {
      hits.push_back(together(by_workload).slower);
    }
    return hits;
  };
  const auto alone = slower({7, 0}, 1);
  CHECK(alone == slower({7, 0}, 3));
  CHECK(alone != slower({8, 0}, 1));
  CHECK(alone != slower({7, 1}, 1));
}

TEST_CASE("every rule judges each comparison, and that of TorchBench each process") {
  const auto series = recorded_series();
  const auto rules = detection_rules(detect::Settings{}, 3);
  const auto table = judge_all(rules, drawn(series, 300, 1), {1, 0}, 1);
  REQUIRE(table.size() == rules.size());
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const long judged = together(table[rule]).judged;
    CHECK(judged == (rules[rule].name.starts_with("TorchBench") ? 900 : 300));
  }
  CHECK(together(table[0]).slower == 0);
  CHECK(together(table[0]).screened + together(table[0]).confirmed == 300);
}

TEST_CASE("rules that need later comparisons report a slowdown of 20 % in them") {
  const auto series = recorded_series();
  const auto rules = detection_rules(detect::Settings{}, 3);
  const auto table = judge_all(rules, drawn(series, 300, 1.2), {1, 0}, 1);
  const auto ours = together(table.front());
  CHECK(ours.slower_by.front() >= 297);
  const auto perfherder = together(table.back());
  REQUIRE(rules.back().first_after == 3);
  CHECK(perfherder.slower_by[1] == 0);
  CHECK(perfherder.slower_by[2] > 150);
  CHECK(perfherder.slower_by[3] >= perfherder.slower_by[2]);
}
