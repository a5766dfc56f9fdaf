// Operators that got slower where no workload did.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "incident_day.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::OwnerKind;
using test::IncidentDay;

namespace {

/// A day of twelve commits in which commit 5 does what `behaviour` says.
std::vector<test::ScriptedCommit> day_with(const std::string& behaviour) {
  auto commits = test::day_with_two_culprits();
  commits[5].behaviour = behaviour;
  commits[8].behaviour = "# nothing";
  return commits;
}

/// A day whose nightlies are judged by operators, too.
class OperatorDay {
 public:
  explicit OperatorDay(const std::string& behaviour) : day_(false, day_with(behaviour)) {
    day_.open(false, true);
  }

  IncidentDay* operator->() { return &day_; }
  storage::ComparisonRow carry_out() { return day_.carry_out(); }
  std::vector<storage::IncidentRow> incidents(const storage::ComparisonRow& comparison) {
    return storage::IncidentStore(day_.database()).of_comparison(comparison.id).value();
  }
  std::vector<storage::VerdictRow> verdicts(const storage::ComparisonRow& comparison) {
    return storage::verdicts_of(day_.database(), comparison.id).value();
  }

 private:
  IncidentDay day_;
};

std::optional<storage::VerdictRow> of_operator(const std::vector<storage::VerdictRow>& verdicts,
                                               const std::string& name) {
  const auto found = std::ranges::find_if(verdicts, [&](const auto& verdict) {
    return verdict.series.benchmark.variant.operator_name == name;
  });
  return found == verdicts.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

TEST_CASE("an operator that got slower in one workload is an incident, and its commit is named") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5");
  const auto comparison = day.carry_out();
  const auto incidents = day.incidents(comparison);
  REQUIRE(incidents.size() == 1);
  const auto& incident = incidents[0];
  CHECK(incident.kind == IncidentKind::regression);
  const auto culprit = day->day.commits()[5].substr(0, 7);
  CHECK_THAT(incident.title, Contains("time of aten::cat by " + culprit + ": dlrm, cpu-infer"));
  REQUIRE(incident.series.size() == 1);
  CHECK(to_string(incident.series[0].series) == "dlrm cpu-infer operator=aten::cat time");

  REQUIRE(incident.bisection);
  const auto bisection = storage::BisectionStore(day->database()).get(*incident.bisection).value();
  const auto result = bisection::parse_bisection_result(bisection.result_json).value();
  CHECK(result.culprit() == day->day.commits()[5]);
  CHECK(day->database().check_invariants().value().empty());
}

TEST_CASE("the issue of an operator says how to see it again") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5");
  const auto incidents = day.incidents(day.carry_out());
  REQUIRE(incidents.size() == 1);
  const auto messages = storage::OutboxStore(day->database()).of_incident(incidents[0].id).value();
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages[0].body, Contains("--workload dlrm --configuration cpu-infer --variant "
                                        "operator=aten::cat"));
  CHECK_THAT(messages[0].body, !Contains("run.py"));
}

TEST_CASE("workloads keep their verdicts beside an operator's") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5");
  const auto verdicts = day.verdicts(day.carry_out());
  for (const auto& verdict : verdicts) {
    INFO(to_string(verdict.series));
    const auto wanted =
        is_of_operator(verdict.series.benchmark) ? Verdict::regressed : Verdict::unchanged;
    CHECK(verdict.verdict == wanted);
  }
  const auto found = of_operator(verdicts, "aten::cat");
  REQUIRE(found);
  CHECK(found->ratio > 1.4);
  CHECK(found->ratio < 1.6);
}

TEST_CASE("an operator that got slower everywhere is judged in one workload") {
  OperatorDay day("operator * * aten::cat 1.4");
  const auto comparison = day.carry_out();
  const auto incidents = day.incidents(comparison);
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].series.size() == 1);
  const auto plan = comparison::parse_plan(comparison.plan_json).value();
  CHECK(plan.watched_operators == 2);
  CHECK(std::ranges::count_if(plan.benchmarks, is_of_operator) == 1);
}

TEST_CASE("an operator whose time another one gave up opens nothing, and the verdict says why") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5\noperator dlrm cpu-infer aten::addmm 0.8");
  const auto comparison = day.carry_out();
  CHECK(day.incidents(comparison).empty());
  const auto verdict = of_operator(day.verdicts(comparison), "aten::cat");
  REQUIRE(verdict);
  CHECK(verdict->verdict == Verdict::unchanged);
  CHECK_THAT(verdict->reason, Contains("its time moved from aten::addmm, which takes -"));
}

TEST_CASE("time that moved is seen whichever block a comparison begins with") {
  OperatorDay day("# nothing");
  day.carry_out();
  double cat = 1;
  double addmm = 1;
  for (const auto* name : {"2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21"}) {
    cat *= 1.5;
    addmm *= 0.8;
    day->day.publish(name, day->day.commits().back(),
                     "noise 0.01\noperator dlrm cpu-infer aten::cat " + std::to_string(cat) +
                         "\noperator dlrm cpu-infer aten::addmm " + std::to_string(addmm));
    const auto comparison = day.carry_out();
    INFO("comparison " << comparison.id);
    CHECK(day.incidents(comparison).empty());
    const auto verdict = of_operator(day.verdicts(comparison), "aten::cat");
    REQUIRE(verdict);
    CHECK_THAT(verdict->reason, Contains("its time moved from aten::addmm"));
  }
}

TEST_CASE("a day without a change costs two runs of each workload, and opens nothing") {
  OperatorDay day("# nothing");
  const auto comparison = day.carry_out();
  CHECK(day.incidents(comparison).empty());
  CHECK(day->attempts_of({OwnerKind::comparison, comparison.id}, true).size() == 8);
  CHECK(std::ranges::none_of(day.verdicts(comparison), [](const auto& verdict) {
    return is_of_operator(verdict.series.benchmark);
  }));
  CHECK_THAT(day->log.lines, Contains("2 operators looked at, 0 suspects\n"));
}

TEST_CASE("the next nightly leaves out workloads whose operators enough others show") {
  OperatorDay day("# nothing");
  day.carry_out();
  day->day.publish("2026-08-18", day->day.commits().back(), "noise 0.01\n# another build");
  const auto next = day.carry_out();
  // Four benchmarks call the same two operators.
  CHECK(day->attempts_of({OwnerKind::comparison, next.id}, true).size() == 6);
  CHECK(day.incidents(next).empty());
}

TEST_CASE("a workload that regressed explains its operators itself") {
  OperatorDay day("time dlrm cpu-infer 1.5");
  const auto comparison = day.carry_out();
  const auto incidents = day.incidents(comparison);
  REQUIRE(incidents.size() == 1);
  CHECK(to_string(incidents[0].series[0].series) == "dlrm cpu-infer time");
  CHECK(day->attempts_of({OwnerKind::comparison, comparison.id}, true).size() == 6);
}

TEST_CASE("operators are not looked at where [detect] operators is off") {
  IncidentDay day(false, day_with("operator dlrm cpu-infer aten::cat 1.5"));
  const auto comparison = day.carry_out();
  CHECK(day.attempts_of({OwnerKind::comparison, comparison.id}, true).empty());
  CHECK(storage::IncidentStore(day.database()).of_comparison(comparison.id).value().empty());
}

TEST_CASE("a look at operators that is stopped continues where it was") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5");
  std::stop_source stop;
  day->log.at_phase = [&](const std::string& phase) {
    if (phase == "looking at single operators") stop.request_stop();
  };
  auto services = day->services();
  const auto due = nightly::discover_comparisons(services, {}).value();
  REQUIRE(due.size() == 1);
  const auto stopped = nightly::carry_out_comparison(services, due[0], stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
  CHECK(day->database().check_invariants().value().empty());

  day->log.at_phase = nullptr;
  const auto row = storage::ComparisonStore(day->database()).get(due[0].id).value();
  const auto done = nightly::carry_out_comparison(services, row, {}).value();
  CHECK(day.incidents(done).size() == 1);
  CHECK(day->attempts_of({OwnerKind::comparison, done.id}, true).size() <= 14);
}

TEST_CASE("an operator that is as fast as before closes its incident by a recheck") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5");
  const auto first = day.carry_out();
  REQUIRE(day.incidents(first).size() == 1);
  day->day.publish("2026-08-18", day->day.commits().back(), "noise 0.01\n# mended");
  day.carry_out();
  const auto incident =
      storage::IncidentStore(day->database()).get(day.incidents(first)[0].id).value();
  CHECK(incident.state == storage::IncidentState::closed);
  REQUIRE(incident.decisions.size() == 1);
  CHECK_THAT(incident.decisions[0].decision.reason,
             Contains("a recheck, found nothing of it left"));
}

TEST_CASE("a person compares one operator of a workload, and learns where it is not called") {
  OperatorDay day("operator dlrm cpu-infer aten::cat 1.5");
  const auto nightly = day.carry_out();
  const auto asked = [&](const std::string& name) {
    auto services = day->services();
    const auto row =
        nightly::open_requested_comparison(services, nightly.candidate, *nightly.baseline, false,
                                           {.workloads = {"dlrm"},
                                            .configurations = {{Device::cpu, Mode::infer}},
                                            .variants = {{.operator_name = name}}})
            .value();
    return day.verdicts(nightly::carry_out_comparison(services, row, {}).value());
  };
  const auto found = asked("aten::cat");
  REQUIRE(found.size() == 1);
  CHECK(found[0].verdict == Verdict::regressed);
  const auto unknown = asked("aten::gelu");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].verdict == Verdict::unsupported);
  CHECK_THAT(unknown[0].reason, Contains("does not call aten::gelu"));
}

TEST_CASE("an operator that one build does not call is not lost") {
  OperatorDay day("uncalled dlrm cpu-infer aten::cat");
  const auto nightly = day.carry_out();
  auto services = day->services();
  const auto row =
      nightly::open_requested_comparison(services, nightly.candidate, *nightly.baseline, true,
                                         {.workloads = {"dlrm"},
                                          .configurations = {{Device::cpu, Mode::infer}},
                                          .variants = {{.operator_name = "aten::cat"}}})
          .value();
  const auto compared = nightly::carry_out_comparison(services, row, {}).value();
  const auto verdicts = day.verdicts(compared);
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].verdict == Verdict::unsupported);
  CHECK_THAT(verdicts[0].reason, Contains("not called with each build"));
  CHECK(day.incidents(compared).empty());
}
