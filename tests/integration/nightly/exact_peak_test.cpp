// Tests what a peak comes to that is equal to the byte in all runs of each build.
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using storage::Purpose;

namespace {

std::unique_ptr<test::ScriptedService> open(const config::Config& config) {
  auto service = test::ScriptedService::open(config);
  if (!service) FAIL(service.error().message);
  return std::move(*service);
}

void carry_out(test::ScriptedService& service) {
  const auto comparisons = service.carry_out_due_comparisons();
  if (!comparisons) FAIL(comparisons.error().message);
  REQUIRE(service.services().database.check_invariants().value().empty());
}

bisection::BisectionResult search_of(storage::Database& database,
                                     const storage::IncidentRow& incident) {
  REQUIRE(incident.bisection);
  const auto row = storage::BisectionStore(database).get(*incident.bisection).value();
  return bisection::parse_bisection_result(row.result_json).value();
}

/// Returns the verdicts of the newest nightly, sorted.
report::SortedVerdicts newest_verdicts(storage::Database& database) {
  const auto rows = storage::ComparisonStore(database).list(100).value();
  for (const auto& row : rows) {
    if (row.purpose != Purpose::nightly || !row.baseline) continue;
    return report::sorted(storage::verdicts_of(database, row.id).value(), {});
  }
  FAIL("there is no nightly");
  return {};
}

/// Returns the behaviour after `steps` steps of 0.9 %.
std::string grown(int steps) {
  std::string text = "noise 0.01";
  for (int i = 0; i < steps; ++i) text += "\npeak dlrm cpu-train 1.009";
  return text + "\n# step " + std::to_string(steps);
}

}  // namespace

TEST_CASE("a peak that is exactly higher is an incident whose culprit is found in few builds") {
  const auto [factor, change] =
      GENERATE(table<std::string, std::string>({{"1.063", "6.3 %"}, {"1.025", "2.5 %"}}));
  CAPTURE(factor);
  const test::TemporaryFolder folder;
  std::vector<test::ScriptedCommit> commits{{"Start of the day", "noise 0.01"}};
  while (commits.size() < 40) {
    commits.push_back({"Commit " + std::to_string(commits.size()), "# another"});
  }
  constexpr std::size_t kCulprit = 27;
  commits[kCulprit] = {"Keep a scratch buffer", "peak dlrm cpu-infer " + factor};
  const test::ScriptedDay day(folder.path(), commits);
  const auto service = open(day.config());
  carry_out(*service);
  auto& database = service->services().database;
  const auto incidents = storage::IncidentStore(database).list(100).value();
  REQUIRE(incidents.size() == 1);
  REQUIRE(incidents[0].series.size() == 1);
  const auto& series = incidents[0].series[0];
  CHECK(to_string(series.series) == "dlrm cpu-infer cpu_peak");
  CHECK(series.interval_low == series.interval_high);
  CHECK(incidents[0].title.starts_with("[memory] +" + change + " cpu_peak"));

  const auto result = search_of(database, incidents[0]);
  INFO(result.reason);
  REQUIRE(result.culprit() == day.commits()[kCulprit]);
  CHECK(result.culprits.size() == 1);
  CHECK(result.builds <= 7);
  CHECK(result.runs <= 16);
  CHECK_THAT(result.culprits[0].verified, Catch::Contains("undoes the change"));
  const auto messages = storage::OutboxStore(database).of_incident(incidents[0].id).value();
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages[0].body,
             Catch::Contains("more memory by exactly " + change) &&
                 Catch::Contains("**exactly +" + change + "**") &&
                 Catch::Contains("all runs of each build equal to the byte, 8 runs"));
}

TEST_CASE("exact steps below the threshold raise nothing night by night, and add up to a drift") {
  // Which a change of the benchmark's time leaves as it is.
  const bool gets_slower = GENERATE(false, true);
  CAPTURE(gets_slower);
  const test::TemporaryFolder folder;
  test::ScriptedDay day(folder.path(),
                        {{"Zero", "# 0"}, {"One", "# 1"}, {"Two", "# 2"}, {"Three", "# 3"}});
  auto config = day.config();
  config.suite.workloads = {"dlrm"};
  config.suite.configurations = {{Device::cpu, Mode::train}};
  config.detect.drift_every = 1;
  const auto service = open(config);
  auto& database = service->services().database;
  const auto incidents = [&] { return storage::IncidentStore(database).list(100).value(); };
  const auto publish = [&](int night) {
    day.publish("2026-08-" + std::to_string(16 + night),
                day.commits()[static_cast<std::size_t>(night)],
                grown(night) + (gets_slower && night >= 2 ? "\ntime dlrm cpu-train 1.5" : ""));
  };
  publish(0);
  publish(1);
  carry_out(*service);
  publish(2);
  carry_out(*service);
  const std::size_t slower = gets_slower ? 1 : 0;
  REQUIRE(incidents().size() == slower);
  const auto sorted = newest_verdicts(database);
  REQUIRE(sorted.moved_exactly.size() == 1);
  CHECK(report::change_text(report::effect_of(sorted.moved_exactly[0])) == "exactly +0.9 %");
  CHECK(sorted.moved_exactly[0].verdict == Verdict::unchanged);

  publish(3);
  carry_out(*service);
  REQUIRE(incidents().size() == slower + 1);
  const auto incident = incidents()[0];
  REQUIRE(incident.series.size() == 1);
  CHECK(incident.series[0].series.metric == Metric::cpu_peak);
  CHECK(report::change_text(report::effect_of(incident.series[0])) == "exactly +2.7 %");
  const auto found_by = storage::ComparisonStore(database).get(incident.comparison).value();
  CHECK(found_by.purpose == Purpose::drift);
  CHECK(newest_verdicts(database).regressed.empty());
}
