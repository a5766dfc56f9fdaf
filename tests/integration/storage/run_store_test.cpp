#include <catch2/catch.hpp>
#include <cmath>

#include "stores.hpp"
#include "torchwatch/runs/evidence_reader.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

void require_equal(const RunResult& a, const RunResult& b) {
  REQUIRE(a.attempt == b.attempt);
  REQUIRE(a.status == b.status);
  REQUIRE(a.reason == b.reason);
  REQUIRE(a.samples_ns == b.samples_ns);
  REQUIRE(a.device_samples_ns == b.device_samples_ns);
  REQUIRE(a.iterations_per_sample == b.iterations_per_sample);
  REQUIRE(a.values == b.values);
  REQUIRE(a.leak->growth_bytes_per_iteration == b.leak->growth_bytes_per_iteration);
  REQUIRE(a.leak->retained_bytes == b.leak->retained_bytes);
  REQUIRE(a.leak->live_bytes == b.leak->live_bytes);
  REQUIRE(a.leak->heap_bytes == b.leak->heap_bytes);
  REQUIRE(a.breakdown->active_ns == b.breakdown->active_ns);
  REQUIRE(a.breakdown->copy_ns == b.breakdown->copy_ns);
  REQUIRE(a.breakdown->idle_ns == b.breakdown->idle_ns);
  REQUIRE(a.breakdown_reason == b.breakdown_reason);
  REQUIRE(a.operators == b.operators);
  REQUIRE(a.operator_figures == b.operator_figures);
  REQUIRE(a.environment.facts == b.environment.facts);
  REQUIRE(a.environment.volatile_facts == b.environment.volatile_facts);
}

struct ComparisonWithRuns : FreshStores {
  ComparisonRow comparison = comparison_of_two(stores);
  RunStore& runs = stores.runs;
  Owner owner{OwnerKind::comparison, comparison.id};

  Id issue(const std::string& slot, const std::string& token) {
    return runs.issue(order_of(comparison, slot), token, 10).value();
  }
};

}  // namespace

TEST_CASE_METHOD(ComparisonWithRuns,
                 "a result comes back member by member as the runner stated it") {
  const Id attempt = issue("A1", "t1");
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 20));
  require_equal(runs.result_of(attempt).value(), full_result("t1"));
  REQUIRE(runs.samples_of(attempt).value() == full_result("t1").samples_ns);
}

TEST_CASE_METHOD(ComparisonWithRuns, "the runs of an owner are those that ended, in order") {
  issue("A1", "t1");
  issue("B1", "t2");
  issue("B2", "t3");
  REQUIRE(runs.record({{"t2", AttemptFailure{"killed by signal 11", "last words"}}}, 20));
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 30));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].slot == "A1");
  REQUIRE(rows[0].benchmark == kBenchmark);
  REQUIRE(rows[0].build == comparison.candidate);
  REQUIRE(rows[0].values == full_result("t1").values);
  REQUIRE(rows[1].status == RunStatus::failed);
  REQUIRE(rows[1].reason == "killed by signal 11");
  REQUIRE(rows[1].values.empty());
}

TEST_CASE_METHOD(ComparisonWithRuns, "runs that end together are stored together or not at all") {
  issue("A1", "t1");
  issue("B1", "t2");
  const storage::AttemptFailure failure{"killed by signal 11", "last words"};
  REQUIRE(runs.record({{"t1", full_result("t1")}, {"t9", failure}}, 20).error().code ==
          ErrorCode::not_found);
  REQUIRE(runs.runs_of(owner).value().empty());
  REQUIRE(runs.record({{"t1", full_result("t1")}, {"t2", failure}}, 20));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].status == RunStatus::ok);
  REQUIRE(rows[1].reason == "killed by signal 11");
}

TEST_CASE_METHOD(ComparisonWithRuns, "a workload that failed is a result as well") {
  issue("A1", "t1");
  RunResult result;
  result.attempt = "t1";
  result.status = RunStatus::unsupported;
  result.reason = "no such device";
  REQUIRE(runs.record({{"t1", result}}, 20));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows.at(0).status == RunStatus::unsupported);
  REQUIRE(rows.at(0).reason == "no such device");
}

TEST_CASE_METHOD(ComparisonWithRuns, "the outputs that others are compared with are the first") {
  const auto stored = [&](const char* slot, const std::string& token, double figure) {
    issue(slot, token);
    auto result = full_result(token);
    result.outputs = {{.name = "output float32 [2]", .scale = 0.5, .figures = {figure, 1e-300}}};
    REQUIRE(runs.record({{token, result}}, 20));
  };
  CHECK(runs.first_outputs(owner, kBenchmark).value().empty());
  stored("A1", "t1", std::nan(""));
  stored("A2", "t2", 2);
  const auto outputs = runs.first_outputs(owner, kBenchmark).value();
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].name == "output float32 [2]");
  CHECK(outputs[0].scale == 0.5);
  REQUIRE(outputs[0].figures.size() == 2);
  CHECK(std::isnan(outputs[0].figures[0]));
  CHECK(outputs[0].figures[1] == 1e-300);
  auto other = kBenchmark;
  other.variant.batch = 7;
  CHECK(runs.first_outputs(owner, other).value().empty());
  CHECK(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(ComparisonWithRuns, "a late twin changes nothing") {
  const Id attempt = issue("A1", "t1");
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 20));
  auto twin = full_result("t1");
  twin.samples_ns = {999};
  REQUIRE(runs.record({{"t1", twin}}, 30).error().code == ErrorCode::conflict);
  REQUIRE(runs.record({{"t1", AttemptFailure{"late", ""}}}, 30).error().code ==
          ErrorCode::conflict);
  REQUIRE(runs.samples_of(attempt).value() == full_result("t1").samples_ns);
  REQUIRE(runs.runs_of(owner).value().size() == 1);
}

TEST_CASE_METHOD(ComparisonWithRuns, "the result of an abandoned attempt is not counted") {
  issue("A1", "t1");
  REQUIRE(runs.abandon_leftovers(15).value() == 1);
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 20).error().code == ErrorCode::conflict);
  REQUIRE(runs.runs_of(owner).value().empty());
}

TEST_CASE_METHOD(ComparisonWithRuns, "an abandoned attempt frees its slot, not its token") {
  issue("A1", "t1");
  REQUIRE(runs.abandon_leftovers(15).value() == 1);
  REQUIRE(runs.abandon_leftovers(16).value() == 0);
  REQUIRE(runs.issue(order_of(comparison, "A1"), "t1", 17).error().code == ErrorCode::conflict);
  issue("A1", "t2");
}

TEST_CASE_METHOD(ComparisonWithRuns, "a run that takes the service down again and again fails") {
  issue("A1", "t1");
  REQUIRE(runs.abandon_leftovers(15).value() == 1);
  REQUIRE(runs.runs_of(owner).value().empty());
  issue("A1", "t2");
  issue("A2", "t3");
  REQUIRE(runs.abandon_leftovers(16).value() == 2);
  const auto failed = runs.runs_of(owner).value();
  REQUIRE(failed.size() == 1);
  REQUIRE(failed[0].slot == "A1");
  REQUIRE(failed[0].status == RunStatus::failed);
  REQUIRE(failed[0].reason == "its process ended with the service");
  issue("A1", "t4");
  REQUIRE(runs.abandon_leftovers(17).value() == 1);
  REQUIRE(runs.runs_of(owner).value().size() == 2);  // its attempts are used up
}

TEST_CASE_METHOD(ComparisonWithRuns, "a token is issued once and a slot filled once") {
  issue("A1", "t1");
  REQUIRE(runs.issue(order_of(comparison, "A2"), "t1", 1).error().code == ErrorCode::conflict);
  REQUIRE(runs.issue(order_of(comparison, "A1"), "t2", 1).error().code == ErrorCode::conflict);
}

TEST_CASE_METHOD(ComparisonWithRuns, "a result of another or an unknown attempt is refused") {
  issue("A1", "t1");
  REQUIRE(runs.record({{"t1", full_result("t0")}}, 20).error().code == ErrorCode::conflict);
  REQUIRE(runs.record({{"t9", full_result("t9")}}, 20).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(ComparisonWithRuns, "an attempt for a comparison that does not exist is refused") {
  auto order = order_of(comparison, "A1");
  order.owner.id = 77;
  REQUIRE(runs.issue(order, "t1", 1).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(ComparisonWithRuns, "facts of many environments are read without the build's") {
  issue("A1", "t1");
  issue("A2", "t2");
  auto first = full_result("t1");
  first.environment.facts = {{"kernel", "6.1"}, {"build.commit", "one"}};
  auto second = full_result("t2");
  second.environment.facts = {{"kernel", "6.8"}, {"build.commit", "two"}, {"threads", "4"}};
  REQUIRE(runs.record({{"t1", first}}, 20));
  REQUIRE(runs.record({{"t2", second}}, 20));
  const auto rows = runs.runs_of(owner).value();
  const auto& before = rows[0].environment_digest;
  const auto& after = rows[1].environment_digest;
  using Found = std::map<std::string, std::string>;
  storage::EvidenceReader reader(*stores.database);
  CHECK(reader.facts_beside_build({before, after, "unknown", "'"}).value() ==
        Found{{before, R"({"kernel":"6.1"})"}, {after, R"({"kernel":"6.8","threads":"4"})"}});
  CHECK(reader.facts_beside_build({}).value() == Found{});
}

TEST_CASE_METHOD(ComparisonWithRuns, "the series of one workload are those that are its own") {
  issue("A1", "t1");
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 20));
  const auto all = runs.all_series().value();
  REQUIRE_FALSE(all.empty());
  for (const auto& series : all) CHECK(is_judged(series.metric));
  REQUIRE(runs.history({kBenchmark, Metric::throughput}, 3).value().size() == 1);
  CHECK(runs.history({kBenchmark, Metric::throughput}, 3).value()[0].value == 40'000'000);
  CHECK(runs.all_series(all.front().benchmark.workload).value() == all);
  CHECK(runs.all_series("another").value().empty());
}

TEST_CASE_METHOD(ComparisonWithRuns, "equal facts are one environment, whatever is volatile") {
  issue("A1", "t1");
  issue("A2", "t2");
  issue("A3", "t3");
  auto second = full_result("t2");
  second.environment.volatile_facts = {{"load", 99}};
  auto third = full_result("t3");
  third.environment.facts["threads"] = "4";
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 20));
  REQUIRE(runs.record({{"t2", second}}, 20));
  REQUIRE(runs.record({{"t3", third}}, 20));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows[0].environment_digest == rows[1].environment_digest);
  REQUIRE(rows[0].environment_digest != rows[2].environment_digest);
  REQUIRE(runs.environment(rows[2].environment_digest).value().facts == third.environment.facts);
  REQUIRE(runs.environment("none").error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(ComparisonWithRuns, "what runs state of the machine is added up for their pass") {
  CHECK(runs.disturbance_of(owner, Pass::timing).value().runs == 0);
  for (const int number : {1, 2, 3}) {
    const auto token = "t" + std::to_string(number);
    issue(token, token);
    auto result = full_result(token);
    result.environment.volatile_facts = {{"load1_milli", 500 * number},
                                         {"steal_ticks", number},
                                         {"wall_ns", 2'000'000'000},
                                         {"is_virtual", number == 2 ? 1 : 0}};
    if (number == 3) result.environment.volatile_facts.clear();  // of an earlier runner
    REQUIRE(runs.record({{token, result}}, 20));
  }
  const auto found = runs.disturbance_of(owner, Pass::timing).value();
  CHECK(found.runs == 2);
  CHECK(found.load_least == Approx(0.5));
  CHECK(found.load_most == Approx(1.0));
  CHECK(found.seconds == Approx(4));
  CHECK(found.stolen_seconds == Approx(0.03));
  CHECK(found.is_virtual);
  CHECK(runs.disturbance_of(owner, Pass::memory).value().runs == 0);
}

TEST_CASE_METHOD(ComparisonWithRuns, "a history is the newest values of one series, oldest first") {
  for (int i = 0; i < 5; ++i) {
    const auto token = "t" + std::to_string(i);
    issue("A" + std::to_string(i), token);
    auto result = full_result(token);
    result.values = {{Metric::time, 100 + i}, {Metric::cpu_peak, 7}};
    REQUIRE(runs.record({{token, result}}, 1000 + i));
  }
  const auto history = runs.history(kTime, 3).value();
  REQUIRE(history.size() == 3);
  REQUIRE(history.front().value == 102);
  REQUIRE(history.back().value == 104);
  REQUIRE(history.back().measured_at == 1004);
  REQUIRE(history.back().build == comparison.candidate);
  REQUIRE(runs.history({kBenchmark, Metric::device_time}, 3).value().empty());
}

TEST_CASE_METHOD(ComparisonWithRuns, "what a drill slowed down is in no history") {
  issue("A0", "t0");
  REQUIRE(runs.record({{"t0", full_result("t0")}}, 1000));
  REQUIRE(runs.history(kTime, 3).value().size() == 1);
  const auto drill = stores.comparisons
                         .open({.purpose = Purpose::drill,
                                .candidate = comparison.candidate,
                                .baseline = comparison.candidate},
                               1)
                         .value();
  REQUIRE(runs.issue(order_of(drill, "B0"), "t1", 10));
  REQUIRE(runs.record({{"t1", full_result("t1")}}, 1001));
  CHECK(runs.history(kTime, 3).value().size() == 1);
}

TEST_CASE_METHOD(ComparisonWithRuns,
                 "runs of a bisection are kept apart from those of a comparison") {
  BisectionRow opened;
  opened.good = "aaa";
  opened.bad = "bbb";
  opened.spec_json = "{}";
  const auto bisection = stores.bisections.open(opened).value();
  auto order = order_of(comparison, "A1");
  order.owner = {OwnerKind::bisection, bisection.id};
  REQUIRE(runs.issue(order, "s1", 1));
  issue("A1", "t1");
  REQUIRE(runs.record({{"s1", full_result("s1")}}, 2));
  REQUIRE(runs.runs_of(owner).value().empty());
  REQUIRE(runs.runs_of(order.owner).value().size() == 1);
}
