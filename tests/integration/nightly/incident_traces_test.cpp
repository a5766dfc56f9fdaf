// The traces that the service makes of an incident's builds by itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "incident_day.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/traces/traces.hpp"
#include "torchwatch/tracing/tracing.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::OwnerKind;
using test::IncidentDay;

namespace {

std::vector<tracing::IncidentTrace> traces_of(IncidentDay& day, const storage::IncidentRow& row) {
  return tracing::kept_of(day.database(), day.service->services().config, row).value();
}

}  // namespace

TEST_CASE("an incident about a time gets a trace of each build, after its comparison's runs") {
  IncidentDay traced;
  const auto comparison = traced.carry_out();
  const auto incident = traced.incident(comparison, IncidentKind::regression);
  const auto traces = traces_of(traced, incident);
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].side == "baseline");
  CHECK(traces[1].side == "candidate");
  CHECK(traced.measurements() == 2);
  CHECK(traces_of(traced, traced.incident(comparison, IncidentKind::leak)).empty());

  REQUIRE(incident.bisection);
  const auto measured = traced.attempts_of({OwnerKind::comparison, comparison.id});
  const auto searched = traced.attempts_of({OwnerKind::bisection, *incident.bisection});
  REQUIRE_FALSE(measured.empty());
  REQUIRE_FALSE(searched.empty());
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
  IncidentDay traced;
  const auto row = traced.carry_out();
  const auto comparison = comparison::Comparison::of(row).value();
  auto services = traced.services();
  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(traced.measurements() == 2);
  // One that was removed is made anew.
  const auto traces = traces_of(traced, traced.incident(row, IncidentKind::regression));
  REQUIRE(traces.size() == 2);
  std::filesystem::remove(traces[1].file);
  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(traced.measurements() == 3);
  CHECK(traces_of(traced, traced.incident(row, IncidentKind::regression)).size() == 2);
}

TEST_CASE("no trace is made where [detect] incident_traces is off") {
  IncidentDay traced(false);
  const auto comparison = traced.carry_out();
  const auto incident = traced.incident(comparison, IncidentKind::regression);
  CHECK(traces_of(traced, incident).empty());
  CHECK(traced.measurements() == 0);
  const auto bodies = storage::OutboxStore(traced.database()).of_incident(incident.id).value();
  REQUIRE(bodies.size() == 1);
  CHECK_THAT(bodies[0].body, !Contains("/traces/"));
}

TEST_CASE("a trace that cannot be kept is logged, and the comparison ends as without it") {
  IncidentDay traced;
  const auto path = traces::folder_beside(traced.service->services().config.storage.path);
  std::ofstream(path) << "no folder";
  const auto comparison = traced.carry_out();
  const auto incident = traced.incident(comparison, IncidentKind::regression);
  CHECK(traces_of(traced, incident).empty());
  CHECK_THAT(traced.log.lines, Contains("the incidents of comparison " +
                                        std::to_string(comparison.id) + " lack traces: ") &&
                                   Contains(path.string()));
  REQUIRE(incident.bisection);
}

TEST_CASE("a service that is stopped makes no trace, and says that it was stopped") {
  IncidentDay traced;
  const auto comparison = comparison::Comparison::of(traced.carry_out()).value();
  for (const auto& trace :
       traces_of(traced, traced.incident(comparison.row, IncidentKind::regression))) {
    std::filesystem::remove(trace.file);
  }
  std::stop_source stop;
  stop.request_stop();
  auto services = traced.services();
  const auto stopped = tracing::trace_incidents(services, comparison, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
}
