// Builds of like code differ by themselves, by no more than the search allows for here.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <variant>
#include <vector>

#include "search_days.hpp"
#include "torchwatch/bisect/culprit_search.hpp"

using namespace torchwatch::bisect;
using torchwatch::test::Classes;

namespace {

constexpr double kPairSd = 0.01;
const double kChange = std::log(1.03);

SearchSeries interleaved(double build_sd) {
  return {.noise_sd = kPairSd, .minimum_effect = kChange / 2, .build_sd = build_sd};
}

/// Interleaved pairs of builds with these levels, the good end's first.
class Pairs {
 public:
  Pairs(std::vector<double> levels, std::uint64_t seed)
      : levels_(std::move(levels)), random_(seed) {}

  Answer search(const SearchSeries& series) {
    auto search = CulpritSearch::create({}, {series}, levels_.size() - 1).value();
    Action action = search.next();
    while (const auto* measure = std::get_if<Measure>(&action)) {
      REQUIRE(search.apply(carry_out(*measure)));
      action = search.next();
    }
    return std::get<Answer>(action);
  }

  /// Pairs of the class against the good end, to narrow the range down.
  int probed(std::size_t candidate) const {
    const auto known = probed_.find(candidate);
    return known == probed_.end() ? 0 : known->second;
  }

 private:
  double level(const Reference& at) const { return levels_.at(at ? *at + 1 : 0); }

  Measured carry_out(const Measure& measure) {
    REQUIRE_FALSE(measure.alone);
    std::normal_distribution<double> noise(0, kPairSd);
    std::vector<double> effects;
    for (int pair = 0; pair < measure.pairs; ++pair) {
      effects.push_back(level(measure.candidate) - level(measure.reference) + noise(random_));
    }
    const bool is_probe = measure.purpose == Purpose::probe && !measure.reference;
    if (is_probe) probed_[measure.candidate] += measure.pairs;
    return {measure.candidate, measure.reference, {{0, effects}}};
  }

  std::vector<double> levels_;
  std::mt19937_64 random_;
  std::map<std::size_t, int> probed_;
};

/// Twenty classes, slower from the eleventh on; the one before it lies half-way by itself.
std::vector<double> day_with_a_class_half_way() {
  std::vector<double> levels(21, 0);
  for (std::size_t place = 11; place < levels.size(); ++place) levels[place] = kChange;
  levels[10] = 0.25 * kChange;
  levels[0] = -0.2 * kChange;
  return levels;
}

}  // namespace

TEST_CASE("a build half-way between good and bad is measured beside its neighbours in the end") {
  int named = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Pairs pairs(day_with_a_class_half_way(), seed);
    const auto answer = pairs.search(interleaved(0.003));
    for (const auto& culprit : answer.culprits) CHECK(culprit.classes == Classes{10});
    CHECK(answer.runs < 500);
    CHECK(pairs.probed(9) <= 16);
    named += answer.culprits.empty() ? 0 : 1;
  }
  CHECK(named >= 38);
}

TEST_CASE("ends that differ by no more than builds of like code do are not searched") {
  std::vector<double> levels(21, 0);
  levels.back() = 0.3 * kChange;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto answer = Pairs(levels, seed).search(interleaved(0.003));
    CHECK(answer.culprits.empty());
    CHECK(answer.builds == 0);
  }
}

TEST_CASE("code that always lies alike needs no allowance") {
  std::vector<double> levels(21, 0);
  for (std::size_t place = 6; place < levels.size(); ++place) levels[place] = 0.8 * kChange;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto answer = Pairs(levels, seed).search(interleaved(0));
    REQUIRE(answer.culprits.size() == 1);
    CHECK(answer.culprits[0].classes == Classes{5});
  }
}
