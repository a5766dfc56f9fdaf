// Tests pairs of runs on a GPU, which has to hold both workloads of a pair.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/comparison/schedule.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/measurement/noise.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;

namespace {

constexpr std::size_t kSlowingCommit = 3;
constexpr const char* kRefusal = "needs about 9.0 GiB and the device can give 8.0 GiB";

/// A day on a machine with a GPU, on which dlrm does not fit beside its partner. It and
/// soft_actor_critic become slower.
std::vector<test::ScriptedCommit> day_on_a_gpu() {
  std::vector<test::ScriptedCommit> commits{
      {"Start of the day",
       "noise 0.01\nfact gpu_model NVIDIA T4\ncrowded dlrm * " + std::string(kRefusal)}};
  while (commits.size() < 6) {
    commits.push_back({"Commit " + std::to_string(commits.size()), "# another"});
  }
  commits[kSlowingCommit] = {"Synchronise after every kernel", "time * cuda-train 1.5"};
  return commits;
}

config::Config config_of(const test::ScriptedDay& day) {
  auto config = day.config();
  config.suite.configurations = {{Device::cuda, Mode::train}};
  config.suite.workloads = {"dlrm", "soft_actor_critic"};
  return config;
}

std::vector<RunStatus> timing_of(storage::Database& database, const storage::Owner& owner,
                                 const std::string& workload) {
  std::vector<RunStatus> states;
  const auto runs = storage::RunStore(database).runs_of(owner).value();
  for (const auto& run : runs) {
    if (run.benchmark.workload == workload && run.pass == Pass::timing)
      states.push_back(run.status);
  }
  return states;
}

}  // namespace

TEST_CASE("pairs that a GPU does not hold are measured apart, and the culprit is named from both") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), day_on_a_gpu());
  const auto service = test::ScriptedService::open(config_of(day)).value();
  const auto comparisons = service->carry_out_due_comparisons().value();
  REQUIRE(comparisons.size() == 1);

  auto& database = service->services().database;
  const auto verdicts = storage::verdicts_of(database, comparisons[0].id).value();
  REQUIRE(verdicts.size() == 16);
  for (const auto& row : verdicts) {
    INFO(to_string(row.series));
    const auto metric = row.series.metric;
    const bool is_slower = metric == Metric::time || metric == Metric::device_time;
    CHECK(row.verdict == (is_slower ? Verdict::regressed : Verdict::unchanged));
  }
  const auto incidents = storage::IncidentStore(database).list(10).value();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].series.size() == 4);
  const auto search = storage::BisectionStore(database).get(*incidents[0].bisection).value();
  const auto result = bisection::parse_bisection_result(search.result_json).value();
  CHECK(result.culprit() == day.commits()[kSlowingCommit]);

  const std::array owners{storage::Owner{storage::OwnerKind::comparison, comparisons[0].id},
                          storage::Owner{storage::OwnerKind::bisection, *incidents[0].bisection}};
  for (const auto& owner : owners) {
    const auto apart = timing_of(database, owner, "dlrm");
    CHECK(std::ranges::count(apart, RunStatus::failed) == comparison::SlotRuns::kRunsOfTwoPairs);
    CHECK(std::ranges::count(apart, RunStatus::ok) > comparison::SlotRuns::kRunsOfTwoPairs);
    const auto paired = timing_of(database, owner, "soft_actor_critic");
    CHECK(std::ranges::count(paired, RunStatus::failed) == 0);
  }
  CHECK(database.check_invariants().value().empty());
}

TEST_CASE("the noise of pairs that a GPU does not hold is that of runs made apart") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), day_on_a_gpu());
  const auto service = test::ScriptedService::open(config_of(day)).value();
  REQUIRE(service->carry_out_due_comparisons().has_value());

  auto& services = service->services();
  constexpr int kPairs = 3;
  const auto build = storage::BuildStore(services.database).list().value().front().id;
  const auto figures = measurement::measure_noise(services, build, kPairs, {}).value();
  REQUIRE(figures.size() == 2);
  for (const auto& figure : figures) CHECK(figure.status == RunStatus::ok);

  const auto last = storage::ComparisonStore(services.database).list(1).value().front();
  const storage::Owner owner{storage::OwnerKind::comparison, last.id};
  const auto apart = timing_of(services.database, owner, "dlrm");
  CHECK(std::ranges::count(apart, RunStatus::failed) == 2);
  CHECK(std::ranges::count(apart, RunStatus::ok) == 2 * kPairs);
  const auto paired = timing_of(services.database, owner, "soft_actor_critic");
  CHECK(std::ranges::count(paired, RunStatus::ok) == 2 * kPairs);
}
