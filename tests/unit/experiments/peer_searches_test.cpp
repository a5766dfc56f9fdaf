#include "peer_searches.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch::experiments;

namespace {

/// Hardly any noise: every search must find every culprit.
const std::vector<double> kQuiet{0.001, -0.002, 0.0005, 0.0015, -0.001, 0.002, -0.0005};

Day day_with(std::size_t commits, std::size_t culprit, double step = std::log(1.10)) {
  return {commits, {{culprit, step}}, {}};
}

template <typename Search>
void finds_every_culprit(const Search& search) {
  for (const std::size_t commits : {1U, 2U, 7U, 16U}) {
    for (std::size_t culprit = 0; culprit < commits; ++culprit) {
      const Day day = day_with(commits, culprit);
      DayRuns runs(day, kQuiet, culprit);
      CAPTURE(commits, culprit);
      REQUIRE(search(runs) == Blamed{{culprit}});
      REQUIRE(runs.builds() <= static_cast<int>(commits));
    }
  }
}

template <typename Search>
void blames_a_broken_stretch_as_a_whole(const Search& search) {
  Day day = day_with(12, 5);
  day.unbuildable = {3, 4, 5};
  DayRuns runs(day, kQuiet, 0);
  REQUIRE(search(runs) == Blamed{{3, 4, 5, 6}});
}

const auto kPinpoint = [](DayRuns& runs) { return pinpoint(runs, std::log(1.10)); };
const auto kThreeBuilders = [](DayRuns& runs) { return section_median_of_five(runs, 3); };
const auto kBayes = [](DayRuns& runs) { return bayes_of_pass_and_fail(runs, std::log(1.10)); };

}  // namespace

TEST_CASE("every search finds a culprit where there is hardly any noise") {
  finds_every_culprit(binary_search_7_percent);
  finds_every_culprit(git_bisect_median_of_five);
  finds_every_culprit(kThreeBuilders);
  finds_every_culprit(kPinpoint);
  finds_every_culprit(kBayes);
}

TEST_CASE("every search blames commits that do not build together with their neighbour") {
  blames_a_broken_stretch_as_a_whole(binary_search_7_percent);
  blames_a_broken_stretch_as_a_whole(git_bisect_median_of_five);
  blames_a_broken_stretch_as_a_whole(kThreeBuilders);
  blames_a_broken_stretch_as_a_whole(kPinpoint);
  blames_a_broken_stretch_as_a_whole(kBayes);
}

TEST_CASE("three builders quarter what is left in each round") {
  const Day day = day_with(64, 40);
  DayRuns runs(day, kQuiet, 0);
  REQUIRE(kThreeBuilders(runs) == Blamed{{40}});
  REQUIRE(runs.rounds() == 3);  // 64 = 4 x 4 x 4
  REQUIRE(runs.builds() <= 9);
}

TEST_CASE("searches that check their ends blame nobody where nothing changed") {
  const Day day{16, {}, {}};
  for (const auto& search : {binary_search_7_percent, git_bisect_median_of_five}) {
    DayRuns runs(day, kQuiet, 0);
    REQUIRE(search(runs).empty());
    REQUIRE(runs.builds() == 0);
  }
  DayRuns runs(day, kQuiet, 0);
  REQUIRE(kPinpoint(runs).empty());
}

TEST_CASE("Pinpoint's rules find several culprits") {
  Day day = day_with(16, 3);
  day.steps[11] = std::log(1.10);
  DayRuns runs(day, kQuiet, 0);
  REQUIRE(kPinpoint(runs) == Blamed{{3}, {11}});
}

TEST_CASE("the runs of a day are the recorded processes in their order, round and round") {
  const Day day = day_with(4, 2, 1.0);
  const std::vector<double> recorded{0.1, 0.2, 0.3};
  DayRuns runs(day, recorded, 1);
  REQUIRE(runs.run(kGoodEnd) == 0.2);
  REQUIRE(runs.run(1) == 0.3);
  REQUIRE(runs.run(2) == Approx(1.1));
  REQUIRE(runs.run(3) == Approx(1.2));
  REQUIRE(runs.runs() == 4);
}

TEST_CASE("ends have builds, other commits cost one whether it succeeds or not") {
  Day day = day_with(4, 2);
  day.unbuildable = {1};
  DayRuns runs(day, kQuiet, 0);
  REQUIRE(runs.build(kGoodEnd));
  REQUIRE(runs.build(3));
  REQUIRE(runs.builds() == 0);
  REQUIRE_FALSE(runs.build(1));
  REQUIRE(runs.build(2));
  REQUIRE(runs.build(2));
  REQUIRE(runs.builds() == 2);
}

TEST_CASE("p-values are those of scipy's asymptotic tests, but for its correction of ties") {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 10; ++i) {
    a.push_back(i);
    b.push_back(i + 5);
  }
  REQUIRE(mann_whitney_p(a, b) == Approx(0.00508).margin(0.0002));
  REQUIRE(mann_whitney_p(a, b) == Approx(mann_whitney_p(b, a)));
  REQUIRE(kolmogorov_smirnov_p(a, b) == Approx(0.112).margin(0.003));
  REQUIRE(kolmogorov_smirnov_p(a, a) == Approx(1).margin(1e-6));
}
