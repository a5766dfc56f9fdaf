// The traces that the service makes of an incident's builds by itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/outbox_store.hpp"
#include "torchwatch/traces/traces.hpp"
#include "torchwatch/tracing/tracing.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::OwnerKind;
using storage::Purpose;

namespace {

/// Keeps what is logged.
class Log final : public comparison::Progress {
 public:
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string& line) override { lines += line + "\n"; }

  std::string lines;
};

/// A day whose nightly has an incident about a time and one about a leak.
struct Traced {
  explicit Traced(bool is_on = true) {
    auto config = day.config();
    config.detect.incident_traces = is_on;
    config.web.public_address = "https://perf.example/";
    service = test::ScriptedService::open(config).value();
  }

  comparison::Services services() {
    auto& own = service->services();
    return {own.config,  own.database, own.executor, own.runners, own.channel,
            own.history, own.commits,  own.clock,    own.random,  log};
  }

  storage::ComparisonRow carry_out() {
    auto with_log = services();
    const auto due = nightly::discover_comparisons(with_log, {}).value();
    const auto done =
        nightly::carry_out_comparisons(with_log, due, [] { return Status{}; }, {}).value();
    REQUIRE(done.size() == 1);
    CHECK(done[0].state == storage::ComparisonState::reported);
    return done[0];
  }

  storage::IncidentRow incident(const storage::ComparisonRow& comparison, IncidentKind kind) {
    const auto all = storage::IncidentStore(database()).of_comparison(comparison.id).value();
    const auto found = std::ranges::find(all, kind, &storage::IncidentRow::kind);
    REQUIRE(found != all.end());
    return *found;
  }

  std::vector<tracing::IncidentTrace> traces_of(const storage::IncidentRow& row) {
    return tracing::kept_of(database(), service->services().config, row).value();
  }

  /// Comparisons in which one build was measured alone.
  std::size_t measurements() {
    const auto all = storage::ComparisonStore(database()).list(100).value();
    return static_cast<std::size_t>(
        std::ranges::count(all, Purpose::measurement, &storage::ComparisonRow::purpose));
  }

  std::vector<storage::Id> attempts_of(storage::Owner owner) {
    std::vector<storage::Id> ids;
    const auto runs = storage::RunStore(database()).runs_of(owner).value();
    for (const auto& run : runs) ids.push_back(run.attempt);
    REQUIRE_FALSE(ids.empty());
    return ids;
  }

  storage::Database& database() { return service->services().database; }

  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path(), test::day_with_two_culprits()};
  std::unique_ptr<test::ScriptedService> service;
  Log log;
};

}  // namespace

TEST_CASE("an incident about a time gets a trace of each build, after its comparison's runs") {
  Traced traced;
  const auto comparison = traced.carry_out();
  const auto incident = traced.incident(comparison, IncidentKind::regression);
  const auto traces = traced.traces_of(incident);
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].side == "baseline");
  CHECK(traces[1].side == "candidate");
  CHECK(traced.measurements() == 2);
  CHECK(traced.traces_of(traced.incident(comparison, IncidentKind::leak)).empty());

  REQUIRE(incident.bisection);
  const auto measured = traced.attempts_of({OwnerKind::comparison, comparison.id});
  const auto searched = traced.attempts_of({OwnerKind::bisection, *incident.bisection});
  const auto bodies = storage::OutboxStore(traced.database()).of_incident(incident.id).value();
  REQUIRE(bodies.size() == 1);
  for (const auto& trace : traces) {
    CHECK(to_string(trace.benchmark) == "soft_actor_critic cpu-train");
    CHECK_THAT(traces::read(trace.file).value().substr(0, 2), Catch::Equals("\x1f\x8b"));
    CHECK(trace.run > std::ranges::max(measured));
    CHECK(trace.run < std::ranges::min(searched));
    CHECK_THAT(bodies[0].body, Contains("[" + trace.side + "](https://perf.example/traces/" +
                                        std::to_string(trace.run) + ")"));
    CHECK_THAT(tracing::text_of(trace),
               Contains("soft_actor_critic cpu-train with " + trace.build + ", ") &&
                   Contains(trace.file.string()));
  }
  CHECK(traced.database().check_invariants().value().empty());
}

TEST_CASE("a build that has its trace is not traced again") {
  Traced traced;
  const auto row = traced.carry_out();
  const auto comparison = comparison::Comparison::of(row).value();
  auto services = traced.services();
  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(traced.measurements() == 2);
  // One that was removed is made anew.
  const auto traces = traced.traces_of(traced.incident(row, IncidentKind::regression));
  REQUIRE(traces.size() == 2);
  std::filesystem::remove(traces[1].file);
  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(traced.measurements() == 3);
  CHECK(traced.traces_of(traced.incident(row, IncidentKind::regression)).size() == 2);
}

TEST_CASE("no trace is made where [detect] incident_traces is off") {
  Traced traced(false);
  const auto comparison = traced.carry_out();
  const auto incident = traced.incident(comparison, IncidentKind::regression);
  CHECK(traced.traces_of(incident).empty());
  CHECK(traced.measurements() == 0);
  const auto bodies = storage::OutboxStore(traced.database()).of_incident(incident.id).value();
  REQUIRE(bodies.size() == 1);
  CHECK_THAT(bodies[0].body, !Contains("/traces/"));
}

TEST_CASE("a trace that cannot be kept is logged, and the comparison ends as without it") {
  Traced traced;
  const auto path = traces::folder_beside(traced.service->services().config.storage.path);
  std::ofstream(path) << "no folder";
  const auto comparison = traced.carry_out();
  const auto incident = traced.incident(comparison, IncidentKind::regression);
  CHECK(traced.traces_of(incident).empty());
  CHECK_THAT(traced.log.lines, Contains("the incidents of comparison " +
                                        std::to_string(comparison.id) + " lack traces: ") &&
                                   Contains(path.string()));
  REQUIRE(incident.bisection);
}

TEST_CASE("a service that is stopped makes no trace, and says that it was stopped") {
  Traced traced;
  const auto comparison = comparison::Comparison::of(traced.carry_out()).value();
  for (const auto& trace :
       traced.traces_of(traced.incident(comparison.row, IncidentKind::regression))) {
    std::filesystem::remove(trace.file);
  }
  std::stop_source stop;
  stop.request_stop();
  auto services = traced.services();
  const auto stopped = tracing::trace_incidents(services, comparison, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
}
