#include "learned_spread.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch;
using namespace torchwatch::experiments;

namespace {

using Comparisons = std::vector<std::vector<double>>;

constexpr double kCommon = 0.03;

Comparisons normal_comparisons(double sd, std::size_t comparisons, int pairs) {
  Random random(1);
  std::normal_distribution<double> noise(0, sd);
  Comparisons all(comparisons);
  for (auto& comparison : all) {
    for (int i = 0; i < pairs; ++i) comparison.push_back(noise(random));
  }
  return all;
}

}  // namespace

TEST_CASE("without a comparison the common spread is expected") {
  CHECK(learned_pair_sd({}, kCommon) == kCommon);
}

TEST_CASE("many comparisons teach the spread of their pairs, however few a comparison has") {
  for (const int pairs : {1, 2, 3, 6}) {
    INFO(pairs);
    CHECK(learned_pair_sd(normal_comparisons(0.08, 4'000, pairs), kCommon) ==
          Approx(0.08).epsilon(0.05));
    CHECK(learned_pair_sd(normal_comparisons(0.01, 4'000, pairs), kCommon) ==
          Approx(0.01).epsilon(0.05));
  }
}

TEST_CASE("a few comparisons leave the expectation near the common one") {
  const Comparisons quiet(4, {0.0, 0.0});
  CHECK(learned_pair_sd(quiet, kCommon) == Approx(kCommon / std::sqrt(2)));
}

TEST_CASE("a single wild comparison changes nothing, nor does one without any noise") {
  Comparisons comparisons(9, {0.02, -0.02});
  const double before = learned_pair_sd(comparisons, kCommon);
  comparisons.front() = {0.9, -0.4};
  CHECK(learned_pair_sd(comparisons, kCommon) == Approx(before));
  comparisons.front() = {0, 0};
  CHECK(learned_pair_sd(comparisons, kCommon) == Approx(before));
}

TEST_CASE("learnt is from comparisons that are not compared") {
  const test::RecordedSeries recorded{"one", {{{100}, {100}, {100}}, {{110}, {110}, {110}}}};
  const Series series(recorded, 0);
  auto comparison = recorded_comparison(series, 1, 1);
  for (const std::size_t back : {0U, 1U})
    comparison.comparisons[SeriesComparison::kJudged - back] = 0;
  for (std::size_t place = 0; place + 1 < SeriesComparison::kJudged; ++place)
    comparison.comparisons[place] = 1;
  const auto pairs = pairs_before(comparison, kComparisonsToLearnFrom);
  REQUIRE(pairs.size() == kComparisonsToLearnFrom);
  for (const auto& of_comparison : pairs) CHECK(of_comparison == std::vector<double>{0, 0, 0});
}
