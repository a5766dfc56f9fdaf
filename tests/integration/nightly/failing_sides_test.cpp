// Searches in which builds fail that were measured before, or that others are measured against.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_clock.hpp"
#include "planted_fault.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using bisection::BisectionOutcome;
using bisection::EventKind;
using Catch::Contains;
using Catch::StartsWith;

namespace {

const Series kClear{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::time};
const Series kOther{{"soft_actor_critic", {Device::cpu, Mode::infer}, {}}, Metric::time};
constexpr const char* kBothSlower = "time dlrm cpu-infer 1.5\ntime soft_actor_critic cpu-infer 1.3";
constexpr std::size_t kSlowed = 5;

/// Eight commits, of which one slows two workloads and does not run the one of them that changed
/// less.
std::vector<test::ScriptedCommit> commits_with_a_crash() {
  std::vector<test::ScriptedCommit> commits{{"0", "noise 0.01"}};
  for (std::size_t i = 1; i < 8; ++i) {
    commits.push_back({std::to_string(i), "# " + std::to_string(i)});
  }
  const std::string both = kBothSlower;
  commits[kSlowed] = {"5", both + "\ncrash soft_actor_critic cpu-infer", "header"};
  commits[kSlowed + 1] = {"6", both, "header"};
  return commits;
}

/// A search between the first and the last of some commits.
struct AskedSearch {
  AskedSearch(const std::vector<test::ScriptedCommit>& commits, const std::vector<Series>& series)
      : day(folder.path(), commits), service(test::ScriptedService::open(day.config()).value()) {
    auto& services = service->services();
    const auto& all = day.commits();
    const auto spec = bisection::requested_spec(services, all.front(), all.back()).value();
    const auto row = bisection::open_requested_bisection(services, spec, series, {}).value();
    const auto ended = bisection::carry_out_bisection(services, row, {});
    if (!ended) FAIL(ended.error().message);
    steps = bisection::trace_of(services.database, *ended).value();
    result = bisection::parse_bisection_result(ended->result_json).value();
    CHECK(services.database.check_invariants().value().empty());
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  std::unique_ptr<test::ScriptedService> service;
  std::vector<report::TraceStep> steps;
  bisection::BisectionResult result;
};

/// Stops the service as soon as a search verifies its culprit.
class StopsAtVerification final : public comparison::Progress {
 public:
  void phase_started(const std::string& phase) override {
    if (phase.ends_with(" to verify the culprit")) stop_.request_stop();
  }
  void progress(int, int, const std::string&) override {}
  void log(const std::string&) override {}
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
};

/// A nightly is slower, and what the recipe makes of its commit does not run the workload.
struct NightlyWithoutSearch {
  NightlyWithoutSearch() {
    day.publish("2026-08-17", day.commits()[2], "noise 0.01\ntime dlrm cpu-infer 1.5");
    auto config = day.config();
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    service = test::ScriptedService::open(config).value();
    const auto done = service->carry_out_due_comparisons();
    if (!done) FAIL(done.error().message);
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path(),
                        {{"One", "noise 0.01"},
                         {"Two", "# 2"},
                         {"Three", "time dlrm cpu-infer 1.5\ncrash dlrm cpu-infer"}}};
  std::unique_ptr<test::ScriptedService> service;
};

}  // namespace

TEST_CASE("a regression whose bad end cannot be measured again is filed, with the reason") {
  const NightlyWithoutSearch nightly;
  auto& database = nightly.service->services().database;
  const auto incidents = storage::IncidentStore(database).list(10).value();
  REQUIRE(incidents.size() == 1);
  const auto row = storage::BisectionStore(database).get(incidents[0].bisection.value()).value();
  const auto result = bisection::parse_bisection_result(row.result_json).value();
  CHECK(result.outcome == BisectionOutcome::not_told_apart);
  CHECK_THAT(result.reason, StartsWith("An end of the range cannot be measured any more: "));
  const auto messages = storage::OutboxStore(database).of_incident(incidents[0].id).value();
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].kind == storage::OutboxKind::open);
  CHECK_THAT(messages[0].body, Contains("cannot be measured any more"));
}

TEST_CASE("a culprit that does not run the other workload it slowed is named all the same") {
  const AskedSearch search(commits_with_a_crash(), {kClear, kOther});
  const auto& culprit = search.day.commits()[kSlowed];
  INFO(search.result.reason);
  CHECK(search.result.culprit() == culprit);
  CHECK(search.result.outcome == BisectionOutcome::partly_found);
  REQUIRE(search.result.culprits.at(0).effects.size() == 1);
  CHECK(search.result.culprits[0].effects[0].series == kClear);
  const auto lost =
      std::ranges::find(search.steps, EventKind::series_lost, &report::TraceStep::kind);
  REQUIRE(lost != search.steps.end());
  CHECK(report::sentence_on(*lost).find(" no more: cannot run the workload: ") !=
        std::string::npos);
  CHECK(lost->commit == culprit);
}

TEST_CASE("a culprit without a runner, once its search resumes, is found by what it read before") {
  const test::TemporaryFolder folder;
  auto commits = commits_with_a_crash();
  commits[kSlowed].behaviour = commits[kSlowed + 1].behaviour = "time dlrm cpu-infer 1.5";
  commits[kSlowed + 1].behaviour += "\n# 6";
  const test::ScriptedDay day(folder.path(), commits);
  const auto service = test::ScriptedService::open(day.config()).value();
  auto& own = service->services();
  const auto& all = day.commits();
  const auto spec = bisection::requested_spec(own, all.front(), all.back()).value();
  const auto row = bisection::open_requested_bisection(own, spec, {kClear}, {}).value();

  StopsAtVerification progress;
  comparison::Services stopped{own.config,  own.database, own.executor, own.runners, own.channel,
                               own.history, own.commits,  own.clock,    own.random,  progress};
  const auto first = bisection::carry_out_bisection(stopped, row, progress.token());
  REQUIRE_FALSE(first);
  REQUIRE(first.error().code == ErrorCode::cancelled);

  test::PlantedFault fault{
      .step = test::FaultStep::kit, .code = ErrorCode::failed, .times = 100, .build = all[kSlowed]};
  test::FakeClock clock;
  test::FaultyParts parts(own, fault, clock);
  const auto ended = bisection::carry_out_bisection(parts.services, row, {});
  if (!ended) FAIL(ended.error().message);
  const auto result = bisection::parse_bisection_result(ended->result_json).value();
  INFO(result.reason);
  REQUIRE(result.culprits.size() == 1);
  CHECK(result.culprits[0].commits == std::vector<std::string>{all[kSlowed], all[kSlowed + 1]});
  REQUIRE(result.skipped.size() == 1);
  CHECK(result.skipped[0].reason == "its runner does not compile: planted");
}
