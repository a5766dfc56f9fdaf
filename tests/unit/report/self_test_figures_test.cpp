#include "torchwatch/report/self_test_figures.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::report;

namespace {
storage::SelfTestTally tally(int series, int regressed, int improved) {
  storage::SelfTestTally made;
  made.series = series;
  made.regressed = regressed;
  made.improved = improved;
  return made;
}
}  // namespace

TEST_CASE("the bound on false alarms counts both ways and falls as quiet series add up") {
  CHECK(false_alarms_bound(tally(0, 0, 0)) == 1);
  // For n without an alarm: 1 - 0.05^(1/n).
  CHECK(false_alarms_bound(tally(20, 0, 0)) == Approx(0.13911).epsilon(1e-4));
  CHECK(false_alarms_bound(tally(400, 0, 0)) == Approx(0.0074613).epsilon(1e-4));
  CHECK(false_alarms_bound(tally(20, 1, 0)) == false_alarms_bound(tally(20, 0, 1)));
  CHECK(false_alarms_bound(tally(20, 1, 1)) > false_alarms_bound(tally(20, 1, 0)));
}

TEST_CASE("the bound is written in per cent, to three digits") {
  CHECK(false_alarms_bound_text(tally(0, 0, 0)) == "100 %");
  CHECK(false_alarms_bound_text(tally(20, 0, 0)) == "13.9 %");
  CHECK(false_alarms_bound_text(tally(400, 0, 0)) == "0.746 %");
}

TEST_CASE("a bound that is high because few series were judged says so") {
  CHECK(self_tests_text(tally(9, 0, 0)) ==
        "0 of 9 series of builds compared with themselves were called changed so far; the "
        "false-alarm rate is at most 28.3 % (95 % upper bound), as only few were judged.");
  const auto many = self_tests_text(tally(1000, 1, 0));
  CHECK(
      many.starts_with("1 of 1,000 series of builds compared with themselves was called changed"));
  CHECK(many.ends_with("at most " + false_alarms_bound_text(tally(1000, 1, 0)) +
                       " (95 % upper bound)."));
}

TEST_CASE("drills say how many planted slowdowns were found, and at least which share is") {
  CHECK(drills_text({}) == "No slowdown was planted yet, so nothing is known of misses.");
  // For n that were all found: 0.05^(1/n).
  CHECK(drills_text({.planted = 1, .found = 1}) ==
        "1 of 1 planted slowdown was found; of such ones at least 5 % are found (95 % lower "
        "bound).");
  CHECK_THAT(drills_text({.planted = 20, .found = 18, .inconclusive = 1}),
             Catch::StartsWith("18 of 20 planted slowdowns were found, 1 was missed, 1 was too "
                               "noisy to tell; of such ones at least "));
  const auto object = json_of(storage::DrillTally{.planted = 20, .found = 20});
  CHECK(object.at("found_bound").get<double>() == Approx(0.86089).epsilon(1e-4));
  CHECK(object.at("missed") == 0);
  CHECK(json_of(storage::DrillTally{}).at("found_bound") == 0);
}

TEST_CASE("a tally's JSON has its counts and its bound, and no metric") {
  auto made = tally(21, 1, 2);
  made.inconclusive = 3;
  CHECK(json_of(made) == nlohmann::json{{"series", 21},
                                        {"inconclusive", 3},
                                        {"regressed", 1},
                                        {"improved", 2},
                                        {"false_alarms_bound", false_alarms_bound(made)}});
}

TEST_CASE("the JSON of self-tests has the tally of each metric, and their sum") {
  auto time = tally(20, 1, 0);
  auto peak = tally(10, 0, 0);
  peak.metric = Metric::cpu_peak;
  const auto object = json_of(std::vector{time, peak});
  CHECK(object.at("self_tests").size() == 2);
  CHECK(object.at("self_tests").at(1).at("metric") == "cpu_peak");
  CHECK(object.at("self_tests").at(1).at("series") == 10);
  CHECK(object.at("all").at("series") == 30);
  CHECK(object.at("all").at("regressed") == 1);
}
