// Tests what a build comes to whose workloads compute other results.
#include <catch2/catch.hpp>

#include "nightlies.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;

namespace {

std::vector<test::ScriptedCommit> commits_of_a_day(std::size_t count) {
  std::vector<test::ScriptedCommit> commits{{"Start of the day", "noise 0.01"}};
  while (commits.size() < count) {
    commits.push_back({"Commit " + std::to_string(commits.size()), "# another"});
  }
  return commits;
}

config::Config comparing_outputs(config::Config config) {
  config.measure.outputs = true;
  return config;
}

void compare_outputs(config::Config& config) {
  config.measure.outputs = true;
}

}  // namespace

TEST_CASE("a commit that changes first digits is named, and one that changes last digits is not") {
  constexpr std::size_t kHarmless = 11;
  constexpr std::size_t kCulprit = 27;
  auto commits = commits_of_a_day(40);
  commits[kHarmless] = {"Add up in another order", "result dlrm cpu-infer 1.0000003"};
  commits[kCulprit] = {"Round early", "result dlrm cpu-infer 1.04"};
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), commits);
  const auto service = test::ScriptedService::open(comparing_outputs(day.config())).value();
  REQUIRE(service->carry_out_due_comparisons());
  auto& database = service->services().database;
  REQUIRE(database.check_invariants().value().empty());

  const auto incidents = storage::IncidentStore(database).list(100).value();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].kind == IncidentKind::result);
  REQUIRE(incidents[0].series.size() == 1);
  CHECK(to_string(incidents[0].series[0].series) == "dlrm cpu-infer output_difference");
  CHECK(incidents[0].title.starts_with("[result] +4.0 % by "));

  REQUIRE(incidents[0].bisection);
  const auto row = storage::BisectionStore(database).get(*incidents[0].bisection).value();
  const auto result = bisection::parse_bisection_result(row.result_json).value();
  INFO(result.reason);
  CHECK(result.culprit() == day.commits()[kCulprit]);
  CHECK(result.culprits.size() == 1);
  CHECK(result.builds <= 7);
  const auto judged =
      storage::verdict_on(database, incidents[0].comparison, incidents[0].series[0].series).value();
  REQUIRE(judged);
  CHECK_THAT(judged->reason, Catch::Contains("is tolerated; most in output float32 [2]"));
  CHECK_THAT(result.culprits[0].verified, Catch::Contains("undoes the change"));

  const auto messages = storage::OutboxStore(database).of_incident(incidents[0].id).value();
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages[0].body,
             Catch::Contains("compute other outputs, apart by 4.0 %") &&
                 Catch::Contains("From equal weights and inputs `dlrm cpu-infer` computes outputs "
                                 "that are **4.0 %** of their size apart") &&
                 Catch::Contains("in each of 8 runs"));
}

TEST_CASE("results that differ in last digits are unchanged, and their difference is kept") {
  test::Nightlies nightlies(test::kQuiet, "noise 0.01\nresult dlrm * 1.0000003", compare_outputs);
  CHECK(storage::IncidentStore(nightlies.database()).list(10).value().empty());
  const auto rows = storage::ComparisonStore(nightlies.database()).list(10).value();
  int seen = 0;
  for (const auto& row : rows) {
    if (row.purpose != storage::Purpose::nightly || !row.baseline) continue;
    const auto verdicts = storage::verdicts_of(nightlies.database(), row.id).value();
    for (const auto& verdict : verdicts) {
      if (verdict.series.metric != Metric::output_difference) continue;
      CHECK(verdict.verdict == Verdict::unchanged);
      CHECK(verdict.baseline_value == 0);
      CHECK(verdict.candidate_value == 300);
      ++seen;
    }
  }
  CHECK(seen == 2);
}

TEST_CASE("a workload may be exempt by name, and nothing is compared unless it is asked for") {
  const auto change = GENERATE(as<std::string>(), "exempt", "off");
  CAPTURE(change);
  test::Nightlies nightlies(
      test::kQuiet, "noise 0.01\nresult dlrm * 1.5", [&](config::Config& config) {
        config.measure.outputs = change == "exempt";
        if (change == "off") return;
        config.detect.thresholds = {
            config::parse_series_threshold("output_difference dlrm 2.0").value()};
      });
  CHECK(storage::IncidentStore(nightlies.database()).list(10).value().empty());
}

TEST_CASE("outputs that are as they were before a change close its incident, and open none") {
  test::Nightlies nightlies(test::kQuiet, "noise 0.01\nresult dlrm * 1.5", compare_outputs);
  storage::IncidentStore store(nightlies.database());
  REQUIRE(store.list(10).value().size() == 1);
  nightlies.next("noise 0.01\n# as it was");
  const auto incidents = store.list(10).value();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].kind == IncidentKind::result);
  CHECK(incidents[0].state == storage::IncidentState::closed);
}

TEST_CASE("outputs that cannot be computed are inconclusive with the reason, all else is judged") {
  const std::string slower = "noise 0.01\npeak dlrm * 1.5\nno-outputs dlrm * it threw: no such row";
  test::Nightlies nightlies(test::kQuiet, slower, compare_outputs);
  const auto incidents = nightlies.incidents();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].kind == IncidentKind::regression);
  const auto row = nightlies.comparisons(storage::Purpose::nightly).front();
  int seen = 0;
  const auto verdicts = storage::verdicts_of(nightlies.database(), row.id).value();
  for (const auto& verdict : verdicts) {
    if (verdict.series.metric != Metric::output_difference) continue;
    CHECK(verdict.verdict == Verdict::inconclusive);
    CHECK(verdict.reason == "it threw: no such row");
    ++seen;
  }
  CHECK(seen == 2);
}

TEST_CASE("a search for other outputs ends where the workload states none, and says so") {
  const Series searched{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::output_difference};
  const std::string none = "no-outputs dlrm * they are rounded to eight bits";
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), {{"One", none}, {"Two", "# 2"}, {"Three", "# 3"}});
  const auto service = test::ScriptedService::open(day.config()).value();
  auto& services = service->services();
  const auto& commits = day.commits();
  const auto spec = bisection::requested_spec(services, commits.front(), commits.back()).value();
  const auto opened = bisection::open_requested_bisection(services, spec, {searched}, {}).value();
  const auto ended = bisection::carry_out_bisection(services, opened, {});
  if (!ended) FAIL(ended.error().text());
  const auto result = bisection::parse_bisection_result(ended->result_json).value();
  CHECK(result.culprits.empty());
  CHECK_THAT(result.reason, Catch::Contains("they are rounded to eight bits"));
}
