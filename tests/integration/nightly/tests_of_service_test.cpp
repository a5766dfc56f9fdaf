// Tests what checks the service after nightlies: self-tests and drills.
#include <catch2/catch.hpp>
#include <set>

#include "nightlies.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/follow_ups/follow_ups.hpp"
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

namespace {

/// Stores a drill of one benchmark, and what came of it.
storage::ComparisonRow add_drill(Nightlies& service, const comparison::Plan& plan,
                                 std::optional<Verdict> result) {
  storage::ComparisonStore comparisons(service.database());
  const auto build = service.comparisons(Purpose::nightly).front().candidate;
  auto drill = comparisons
                   .open({.purpose = Purpose::drill,
                          .candidate = build,
                          .baseline = build,
                          .plan_json = to_json(plan)},
                         1)
                   .value();
  if (!result) return drill;
  storage::VerdictRow verdict;
  verdict.comparison = drill.id;
  verdict.series = {plan.benchmarks.at(0), Metric::time};
  verdict.verdict = *result;
  REQUIRE(comparisons.add_verdict(verdict));
  return comparisons.advance(drill, ComparisonState::reported, 2).value();
}

/// The plan of a drill of the nightly's last benchmark, whose turn comes last.
comparison::Plan plan_of_last(Nightlies& service) {
  auto plan =
      comparison::parse_plan(service.comparisons(Purpose::nightly).front().plan_json).value();
  plan.benchmarks = {plan.benchmarks.back()};
  plan.passes = {Pass::timing};
  plan.planted_slowdown = 0.14;
  return plan;
}

}  // namespace

TEST_CASE("a slowdown that was missed is planted again in that benchmark, until it is found") {
  Nightlies service(kQuiet, "noise 0.01\n# second",
                    [](config::Config& config) { config.detect.drill_every = 30; });
  const auto plan = plan_of_last(service);
  add_drill(service, plan, Verdict::unchanged);
  service.next("noise 0.01\n# third");
  const auto drills = service.comparisons(Purpose::drill);
  REQUIRE(drills.size() == 2);
  for (const auto& drill : drills) {
    CHECK(comparison::parse_plan(drill.plan_json).value().benchmarks == plan.benchmarks);
  }
  CHECK(storage::drills(service.database()).value().missed() == 1);
  CHECK(storage::drills(service.database()).value().found == 1);
  service.next("noise 0.01\n# fourth");
  CHECK(service.comparisons(Purpose::drill).size() == 2);
}

TEST_CASE("while a drill has not ended there is no other") {
  Nightlies service(kQuiet, "noise 0.01\n# second",
                    [](config::Config& config) { config.detect.drill_every = 30; });
  const auto nightly = service.comparisons(Purpose::nightly).front();
  const auto plan = plan_of_last(service);
  add_drill(service, plan, Verdict::unchanged);
  add_drill(service, plan, std::nullopt);
  auto& services = service.services();
  auto ended = comparison::Comparison::of(nightly).value();
  REQUIRE(follow_ups::open_tests_of_service(services, ended));
  CHECK(service.comparisons(Purpose::drill).size() == 2);
}
