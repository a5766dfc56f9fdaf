// Tests what checks the service after nightlies: self-tests and drills.
#include <catch2/catch.hpp>
#include <set>

#include "nightlies.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/runs/drills.hpp"

using namespace torchwatch;
using storage::ComparisonState;
using storage::Purpose;
using test::kQuiet;
using test::Nightlies;

TEST_CASE(
    "after each nightly one benchmark compares the new build with itself, benchmark after "
    "benchmark") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  service.next("noise 0.01\n# third");
  const auto tests = service.comparisons(Purpose::self_test);
  REQUIRE(tests.size() == 2);
  std::set<std::string> benchmarks;
  for (const auto& test : tests) {
    CHECK(test.state == ComparisonState::reported);
    CHECK(test.baseline == test.candidate);
    const auto plan = comparison::parse_plan(test.plan_json).value();
    REQUIRE(plan.benchmarks.size() == 1);
    CHECK(test.budget_series == 12);
    benchmarks.insert(to_string(plan.benchmarks[0]));
  }
  CHECK(benchmarks.size() == 2);
  const auto tallies = storage::ComparisonStore(service.database()).self_tests().value();
  CHECK(storage::sum_of(tallies).series == 12);  // a time, two peaks, three leaks each
  CHECK(storage::sum_of(tallies).regressed == 0);
  CHECK(service.incidents().empty());
}

TEST_CASE("a nightly with the libraries of the one before still gets a self-test") {
  Nightlies service(kQuiet, kQuiet);
  REQUIRE(service.comparisons(Purpose::nightly).front().reason.find("the same libraries") !=
          std::string::npos);
  const auto tests = service.comparisons(Purpose::self_test);
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].state == ComparisonState::reported);
}

TEST_CASE("a false alarm of a self-test is counted and opens no incident") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  storage::ComparisonStore comparisons(service.database());
  const auto test = service.comparisons(Purpose::self_test).at(0);
  const auto again =
      comparisons.open({Purpose::self_test, test.candidate, test.candidate}, 1).value();
  storage::VerdictRow wrong;
  wrong.comparison = again.id;
  wrong.series = {comparison::parse_plan(test.plan_json).value().benchmarks[0], Metric::time};
  wrong.verdict = Verdict::regressed;
  REQUIRE(comparisons.add_verdict(wrong));
  CHECK(storage::sum_of(comparisons.self_tests().value()).regressed == 1);
  CHECK(service.incidents().empty());
}

TEST_CASE("every few nightlies a slowdown is planted in one benchmark, found, and no incident") {
  Nightlies service(kQuiet, "noise 0.01\n# second",
                    [](config::Config& config) { config.detect.drill_every = 2; });
  service.next("noise 0.01\n# third");
  service.next("noise 0.01\n# fourth");
  const auto drills = service.comparisons(Purpose::drill);
  REQUIRE(drills.size() == 2);  // after the second and after the fourth
  std::set<std::string> benchmarks;
  for (const auto& drill : drills) {
    CHECK(drill.state == ComparisonState::reported);
    CHECK(drill.baseline == drill.candidate);
    const auto plan = comparison::parse_plan(drill.plan_json).value();
    REQUIRE(plan.benchmarks.size() == 1);
    CHECK(plan.passes == std::vector{Pass::timing});
    CHECK(plan.planted_slowdown == Approx(0.14));
    benchmarks.insert(to_string(plan.benchmarks[0]));
  }
  CHECK(benchmarks.size() == 2);
  storage::ComparisonStore comparisons(service.database());
  CHECK(storage::drills(service.database()).value().found == 2);
  CHECK(storage::drills(service.database()).value().planted == 2);
  CHECK(storage::sum_of(comparisons.self_tests().value()).regressed == 0);
  CHECK(service.incidents().empty());
}

TEST_CASE("a slowdown that was missed is planted again at the next nightly, until it is found") {
  Nightlies service(kQuiet, "noise 0.01\n# second",
                    [](config::Config& config) { config.detect.drill_every = 30; });
  storage::ComparisonStore comparisons(service.database());
  const auto build = service.comparisons(Purpose::nightly).front().candidate;
  const auto missed =
      comparisons.open({.purpose = Purpose::drill, .candidate = build, .baseline = build}, 1)
          .value();
  storage::VerdictRow verdict;
  verdict.comparison = missed.id;
  verdict.series = {{"dlrm", {Device::cpu, Mode::train}, {}}, Metric::time};
  verdict.verdict = Verdict::unchanged;
  REQUIRE(comparisons.add_verdict(verdict));
  REQUIRE(comparisons.advance(missed, ComparisonState::reported, 2));
  service.next("noise 0.01\n# third");
  CHECK(service.comparisons(Purpose::drill).size() == 2);
  CHECK(storage::drills(service.database()).value().missed() == 1);
  CHECK(storage::drills(service.database()).value().found == 1);
  service.next("noise 0.01\n# fourth");
  CHECK(service.comparisons(Purpose::drill).size() == 2);
}
