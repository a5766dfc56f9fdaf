// What the service finds of the operators of an incident's builds.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "fake_clock.hpp"
#include "incident_day.hpp"
#include "torchwatch/executor/executor.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "torchwatch/tracing/tracing.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::OwnerKind;
using test::IncidentDay;

namespace {

/// The runs that watch operators: eight pairs for the time, two for the leak.
constexpr std::size_t kRuns = 20;

std::optional<operators::Attribution> attribution(IncidentDay& day,
                                                  const storage::IncidentRow& incident) {
  return operators::attribution_of(day.database(), incident).value();
}

std::vector<storage::Id> watched(IncidentDay& day, const storage::ComparisonRow& comparison) {
  return day.attempts_of({OwnerKind::comparison, comparison.id}, true);
}

/// Calls back whenever a run that watches begins.
class LookingExecutor final : public executor::Executor {
 public:
  LookingExecutor(executor::Executor& inner, std::function<void()> at_watch)
      : inner_(inner), at_watch_(std::move(at_watch)) {}

  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override {
    look(spec.request);
    return inner_.run(spec, stop);
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override {
    for (const auto& spec : specs) look(spec.request);
    return inner_.run_pair(std::move(specs), stop);
  }

 private:
  void look(const protocol::Request& request) {
    if (request.operators) at_watch_();
  }

  executor::Executor& inner_;
  std::function<void()> at_watch_;
};

/// A day whose second nightly cannot be watched in one of its two incidents.
std::vector<test::ScriptedCommit> day_that_cannot_be_watched() {
  auto commits = test::day_with_two_culprits();
  commits.back().behaviour = "unwatched soft_actor_critic cpu-train no operators today";
  return commits;
}

}  // namespace

TEST_CASE("an incident about a time names the operator that takes more, before its search") {
  IncidentDay day;
  const auto comparison = day.carry_out();
  const auto incident = day.incident(comparison, IncidentKind::regression);
  const auto found = attribution(day, incident);
  REQUIRE(found);
  CHECK(to_string(found->benchmark) == "soft_actor_critic cpu-train");
  CHECK(found->pairs == 8);
  REQUIRE(found->changes.size() == 3);
  CHECK(found->changes[0].name == "aten::addmm");
  CHECK(operators::takes_more(found->changes[0], found->iteration_ns));
  CHECK_FALSE(operators::takes_more(found->changes[1], found->iteration_ns));
  CHECK_THAT(operators::text_of(*found),
             Contains("aten::addmm takes +") && Contains("No other operator differs certainly"));

  REQUIRE(incident.bisection);
  const auto runs = watched(day, comparison);
  CHECK(runs.size() == kRuns);
  const auto searched = day.attempts_of({OwnerKind::bisection, *incident.bisection});
  REQUIRE_FALSE(searched.empty());
  CHECK(std::ranges::max(runs) < std::ranges::min(searched));
  const auto bodies = storage::OutboxStore(day.database()).of_incident(incident.id).value();
  REQUIRE(bodies.size() == 1);
  CHECK_THAT(bodies[0].body,
             Contains("By operator: `soft_actor_critic cpu-train: aten::addmm takes +"));
  CHECK(day.database().check_invariants().value().empty());
}

TEST_CASE("an incident about a leak names the operator whose bytes stay") {
  IncidentDay day;
  const auto incident = day.incident(day.carry_out(), IncidentKind::leak);
  const auto found = attribution(day, incident);
  REQUIRE(found);
  CHECK(to_string(found->benchmark) == "dlrm cpu-train");
  CHECK(found->pairs == 2);
  CHECK(operators::text_of(*found) == "aten::cat keeps +4,096 bytes/iteration.");
}

TEST_CASE("builds that were watched are not watched again") {
  IncidentDay day;
  const auto row = day.carry_out();
  const auto comparison = comparison::Comparison::of(row).value();
  auto services = day.services();
  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(watched(day, row).size() == kRuns);
}

TEST_CASE("what was watched changes no verdict when the comparison's runs are read again") {
  IncidentDay day;
  const auto row = day.carry_out();
  REQUIRE_FALSE(watched(day, row).empty());
  const auto comparison = comparison::Comparison::of(row).value();
  auto services = day.services();
  const auto judged = comparison::replay(services, comparison).value().judged();
  const auto stored = storage::verdicts_of(day.database(), row.id).value();
  REQUIRE(judged.size() == stored.size());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    INFO(to_string(stored[i].series));
    const auto same = std::ranges::find(judged, stored[i].series,
                                        [](const auto& each) { return each.verdict.series; });
    REQUIRE(same != judged.end());
    CHECK(same->verdict.verdict == stored[i].verdict);
    CHECK(same->verdict.runs == stored[i].runs);
  }
}

TEST_CASE("a watch that is stopped leaves nothing open, and continues where it was") {
  IncidentDay day(false);
  const auto row = day.carry_out();
  REQUIRE(watched(day, row).empty());
  day.open(true);
  const auto comparison = comparison::Comparison::of(row).value();
  std::stop_source stop;
  day.log.at_phase = [&](const std::string& phase) {
    if (phase == "watching the operators of soft_actor_critic cpu-train") stop.request_stop();
  };
  auto services = day.services();
  const auto stopped = tracing::trace_incidents(services, comparison, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
  CHECK(watched(day, row).size() == 4);  // of dlrm, which comes first
  CHECK(day.database().check_invariants().value().empty());

  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(watched(day, row).size() == kRuns);
}

TEST_CASE("a database is sound while operators are watched, so that it can be backed up") {
  IncidentDay day;
  std::size_t runs = 0;
  std::vector<std::string> breaches;
  LookingExecutor looking(day.service->services().executor, [&] {
    ++runs;
    const auto found = day.database().check_invariants().value();
    for (const auto& breach : found) breaches.push_back(breach.invariant);
  });
  day.executor = &looking;
  day.carry_out();
  CHECK(runs == kRuns);
  CHECK(breaches.empty());
}

TEST_CASE("a watch that takes long ends, counts with the pairs it made, and holds up no search") {
  IncidentDay day(false);
  const auto row = day.carry_out();
  const auto comparison = comparison::Comparison::of(row).value();
  day.open(true);
  test::FakeClock clock;
  LookingExecutor slow(day.service->services().executor,
                       [&] { clock.advance(std::chrono::minutes(1)); });
  day.executor = &slow;
  day.clock = &clock;
  auto services = day.services();
  REQUIRE(tracing::trace_incidents(services, comparison, {}));
  CHECK(watched(day, row).size() == 16);
  CHECK_THAT(day.log.lines, Contains("the operators of soft_actor_critic cpu-train are watched in "
                                     "6 of 8 pairs: the 15 minutes for a comparison are over\n"));
  const auto found = attribution(day, day.incident(row, IncidentKind::regression));
  REQUIRE(found);
  CHECK(found->pairs == 6);
  CHECK(operators::takes_more(found->changes[0], found->iteration_ns));
  CHECK(day.database().check_invariants().value().empty());
}

TEST_CASE("nothing is watched where [detect] incident_traces is off") {
  IncidentDay day(false);
  const auto comparison = day.carry_out();
  CHECK(watched(day, comparison).empty());
  CHECK_FALSE(attribution(day, day.incident(comparison, IncidentKind::regression)));
}

TEST_CASE("a benchmark that cannot be watched is logged once, and holds up no other") {
  IncidentDay day(true, day_that_cannot_be_watched());
  const auto comparison = day.carry_out();
  CHECK_THAT(day.log.lines, Contains("the operators of soft_actor_critic cpu-train are not "
                                     "watched: ") &&
                                Contains("no operators today"));
  CHECK_FALSE(attribution(day, day.incident(comparison, IncidentKind::regression)));
  CHECK(attribution(day, day.incident(comparison, IncidentKind::leak)));
  const auto runs = watched(day, comparison).size();
  auto services = day.services();
  REQUIRE(tracing::trace_incidents(services, comparison::Comparison::of(comparison).value(), {}));
  CHECK(watched(day, comparison).size() == runs);
}
