#include "torchwatch/bisect/revert_gate.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

using namespace torchwatch::bisect;

namespace {

Effect effect_of(double size, double half_width) {
  return {.series = 0,
          .effect = size,
          .low = size - half_width,
          .high = size + half_width,
          .pairs = 6,
          .shows = true};
}

/// Pairs that lie as evenly about their centre as above and below it.
std::vector<double> pairs_about(double centre, double deviation, int count) {
  std::vector<double> pairs;
  for (int i = 0; i < count; ++i) pairs.push_back(centre + (i % 2 == 0 ? deviation : -deviation));
  return pairs;
}

/// How often a culprit's revert ends in each state, of 200 whose `left` part of +3.5 % stays.
std::map<RevertState, int> ends(double left, double spread) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, spread);
  const auto measured = [&](double effect) { return effect + noise(random); };
  std::map<RevertState, int> ends;
  for (int i = 0; i < 200; ++i) {
    double found = 0;
    for (int pair = 0; pair < 6; ++pair) found += measured(0.034) / 6;
    std::vector<double> pairs;
    auto reading = RevertReading();
    while (reading.state == RevertState::open) {
      for (int pair = 0; pair < 6; ++pair) pairs.push_back(measured(0.034 * (1 - left)));
      reading = judge_revert(SearchSeries{.noise_sd = spread}, effect_of(found, spread), pairs);
    }
    ++ends[reading.state];
  }
  return ends;
}

}  // namespace

TEST_CASE("a change that clearly goes with its culprit, or stays, takes six pairs") {
  const SearchSeries series{.noise_sd = 0.02, .build_sd = 0.003};
  const auto gone = judge_revert(series, effect_of(0.2, 0.03), pairs_about(0.19, 0.02, 6));
  CHECK(gone.state == RevertState::gone);
  CHECK(gone.effect == Approx(0.19).margin(0.001));
  CHECK(judge_revert(series, effect_of(0.2, 0.03), pairs_about(0, 0.02, 6)).state ==
        RevertState::stays);
}

TEST_CASE("pairs about half of the effect contradict nobody") {
  const SearchSeries series{.noise_sd = 0.02};
  const auto state = [&](double centre, int pairs) {
    return judge_revert(series, effect_of(0.034, 0.02), pairs_about(centre, 0.02, pairs)).state;
  };
  CHECK(state(0.013, 6) == RevertState::open);
  CHECK(state(0.02, 6) == RevertState::open);
  CHECK(state(0.013, 48) == RevertState::undecided);
}

TEST_CASE("the value of what is exact decides") {
  const SearchSeries exact{.noise_sd = 0};
  const Effect effect = effect_of(4096, 0);
  CHECK(judge_revert(exact, effect, {4096, 4096}).state == RevertState::gone);
  CHECK(judge_revert(exact, effect, {2048, 2048}).state == RevertState::gone);
  CHECK(judge_revert(exact, effect, {0, 0}).state == RevertState::stays);
}

TEST_CASE("noise contradicts no culprit of +3.5 %, and a change that stays is found") {
  auto right = ends(0, 0.02);
  CHECK(right[RevertState::stays] == 0);
  CHECK(right[RevertState::gone] > 180);
  auto wrong = ends(1, 0.01);
  CHECK(wrong[RevertState::gone] == 0);
  CHECK(wrong[RevertState::stays] > 180);
}
