#include "learned_spread.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch;
using namespace torchwatch::benchmarks;

namespace {

using Nights = std::vector<std::vector<double>>;

constexpr double kCommon = 0.03;

Nights normal_nights(double sd, std::size_t nights, int pairs) {
  Random random(1);
  std::normal_distribution<double> noise(0, sd);
  Nights all(nights);
  for (auto& night : all) {
    for (int i = 0; i < pairs; ++i) night.push_back(noise(random));
  }
  return all;
}

}  // namespace

TEST_CASE("without a night the common spread is expected") {
  CHECK(learned_pair_sd({}, kCommon) == kCommon);
}

TEST_CASE("many nights teach the spread of their pairs, however few a night has") {
  for (const int pairs : {1, 2, 3, 6}) {
    INFO(pairs);
    CHECK(learned_pair_sd(normal_nights(0.08, 4'000, pairs), kCommon) ==
          Approx(0.08).epsilon(0.05));
    CHECK(learned_pair_sd(normal_nights(0.01, 4'000, pairs), kCommon) ==
          Approx(0.01).epsilon(0.05));
  }
}

TEST_CASE("a few nights leave the expectation near the common one") {
  const Nights quiet(4, {0.0, 0.0});
  CHECK(learned_pair_sd(quiet, kCommon) == Approx(kCommon / std::sqrt(2)));
}

TEST_CASE("a single wild night changes nothing, nor does one without any noise") {
  Nights nights(9, {0.02, -0.02});
  const double before = learned_pair_sd(nights, kCommon);
  nights.front() = {0.9, -0.4};
  CHECK(learned_pair_sd(nights, kCommon) == Approx(before));
  nights.front() = {0, 0};
  CHECK(learned_pair_sd(nights, kCommon) == Approx(before));
}

TEST_CASE("learnt is from nights that are not compared") {
  const test::RecordedSeries recorded{"one", {{{100}, {100}, {100}}, {{110}, {110}, {110}}}};
  const Series series(recorded, 0);
  auto night = recorded_night(series, 1, 1);
  for (const std::size_t back : {0U, 1U}) night.nights[SeriesNight::kJudged - back] = 0;
  for (std::size_t place = 0; place + 1 < SeriesNight::kJudged; ++place) night.nights[place] = 1;
  const auto pairs = pairs_before(night, kNightsToLearnFrom);
  REQUIRE(pairs.size() == kNightsToLearnFrom);
  for (const auto& of_night : pairs) CHECK(of_night == std::vector<double>{0, 0, 0});
}
