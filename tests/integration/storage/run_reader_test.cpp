#include "torchwatch/runs/run_reader.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"
#include "torchwatch/runs/node_time.hpp"
#include "torchwatch/runs/retention.hpp"
#include "torchwatch/storage/counts.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

/// A comparison with runs on two machines.
struct Measured : FreshStores {
  ComparisonRow comparison = comparison_of_two(stores);
  RunReader reader{*stores.database};
  Id first = run("a", "resnet18", "Model X");
  Id second = run("b", "vgg16", "Model X");
  Id third = run("c", "resnet18", "Model Y");

  Id run(const std::string& token, const std::string& workload, const std::string& cpu) {
    return run(token, workload, cpu, full_result(token));
  }

  Id run(const std::string& token, const std::string& workload, const std::string& cpu,
         RunResult result, const std::map<std::string, std::string>& further = {}) {
    auto attempt = order_of(comparison, token);
    attempt.benchmark.workload = workload;
    const auto id = stores.runs.issue(attempt, token, 1).value();
    result.samples_ns = {40, 10, 30, 20, 50};
    result.environment.facts = {{"cpu_model", cpu}, {"cpus", "2"}, {"heap", token}};
    result.environment.facts.insert(further.begin(), further.end());
    REQUIRE(stores.runs.record({{token, result}}, 1000 * id));
    return id;
  }

  std::vector<Id> ids(const RunFilter& filter, int limit = 10, Id before = INT64_MAX) {
    const auto rows =
        reader.list({OwnerKind::comparison, comparison.id}, filter, limit, before).value();
    std::vector<Id> ids;
    for (const auto& row : rows) ids.push_back(row.attempt);
    return ids;
  }
};

}  // namespace

TEST_CASE_METHOD(Measured, "the runs of a comparison are listed newest first, page by page") {
  CHECK(ids({}) == std::vector<Id>{third, second, first});
  CHECK(ids({}, 2) == std::vector<Id>{third, second});
  CHECK(ids({}, 2, second) == std::vector<Id>{first});
  CHECK(ids({.workload = "resnet18"}) == std::vector<Id>{third, first});
  CHECK(ids({.pass = "memory"}).empty());
  CHECK(reader.list({OwnerKind::bisection, 1}, {}, 10, INT64_MAX).value().empty());
}

TEST_CASE_METHOD(Measured, "what several runs state is read by metric and run") {
  auto result = full_result("d");
  result.values = {{Metric::time, 7}, {Metric::compile_time, 8}};
  const auto fourth = run("d", "resnet18", "Model X", result);
  using Values = std::map<Id, std::int64_t>;
  auto values = reader.values_of({fourth, first, 77}).value();
  CHECK(values.at(Metric::time) == Values{{first, 100}, {fourth, 7}});
  CHECK(values.at(Metric::compile_time) == Values{{fourth, 8}});
  CHECK(values.at(Metric::cpu_peak) == Values{{first, 5 << 20}});
  CHECK(reader.values_of({}).value().empty());
}

TEST_CASE_METHOD(Measured, "a run says what it measured, when, where and with which values") {
  const auto run = reader.get(second).value();
  CHECK(run.owner == Owner{OwnerKind::comparison, comparison.id});
  CHECK(run.benchmark.workload == "vgg16");
  CHECK(run.status == RunStatus::ok);
  CHECK(run.values.at(Metric::time) == 100);
  CHECK(run.issued_at == 1);
  CHECK(run.ended_at == 1000 * second);
  CHECK(run.machine == Id{1});
  REQUIRE(run.machine_class);
  CHECK(run.machine_class->name == "Model X, 2 cores");
  CHECK(run.machine_class->facts ==
        std::map<std::string, std::string>{{"cpu_model", "Model X"}, {"cpus", "2"}});
  CHECK(run.node.empty());
  CHECK_FALSE(run.is_thinned);
  CHECK(reader.get(77).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Measured, "a class keeps its history when runs begin to state its memory") {
  const auto class_of = [&](Id run) { return reader.get(run).value().machine_class.value(); };
  const auto before = class_of(first);
  const auto of_memory = [&](const char* token, const char* memory) {
    return class_of(run(token, "resnet18", "Model X", full_result(token), {{"memory", memory}}));
  };
  const auto since = of_memory("d", "24 GiB");
  CHECK(since.id == before.id);
  CHECK(since.name == "Model X, 2 cores, 24 GiB");
  CHECK(class_of(second).name == since.name);
  const auto other = of_memory("e", "48 GiB");
  CHECK(other.id != before.id);
  CHECK(of_memory("f", "24 GiB").id == before.id);
}

TEST_CASE_METHOD(Measured, "a node's time is counted by owner, both runs of a pair once") {
  const auto issue = [&](const std::string& token, const std::string& node, WallMillis at) {
    auto attempt = order_of(comparison, token);
    attempt.node = node;
    REQUIRE(stores.runs.issue(attempt, token, at));
  };
  issue("p", "n1", 10'000);
  issue("q", "n1", 10'001);
  REQUIRE(stores.runs.record({{"p", full_result("p")}, {"q", full_result("q")}}, 12'000));
  issue("lost", "n1", 12'500);
  REQUIRE(stores.runs.abandon(std::vector<std::string>{"lost"}, 13'000));
  issue("r", "n2", 12'500);
  REQUIRE(stores.runs.record({{"r", AttemptFailure{"crashed", ""}}}, 14'500));
  issue("late", "", 20'000);
  REQUIRE(stores.runs.record({{"late", full_result("late"), "n2"}}, 21'000));
  issue("here", "", 30'000);
  REQUIRE(stores.runs.record({{"here", full_result("here")}}, 31'000));
  const std::map<std::string, double> expected{{"n1", 2.5}, {"n2", 3}};
  CHECK(node_seconds(*stores.database, Owner{OwnerKind::comparison, comparison.id}).value() ==
        expected);
  CHECK(node_seconds(*stores.database).value() == expected);
  CHECK(node_seconds(*stores.database, Owner{OwnerKind::bisection, 1}).value().empty());
  const auto newest = reader.list({OwnerKind::comparison, comparison.id}, {}, 2, INT64_MAX).value();
  CHECK(newest[0].node.empty());
  CHECK(newest[1].node == "n2");
}

TEST_CASE_METHOD(Measured, "an attempt that left no result is a run without one") {
  REQUIRE(stores.runs.issue(order_of(comparison, "d"), "d", 5));
  REQUIRE(stores.runs.record({{"d", AttemptFailure{"crashed", "output"}}}, 6));
  const auto run = reader.get(ids({}).front()).value();
  CHECK(run.state == AttemptState::failed);
  CHECK_FALSE(run.status);
  CHECK(run.reason == "crashed");
  CHECK_FALSE(run.machine);
  CHECK(reader.samples_of(run.attempt).value().empty());
}

TEST_CASE_METHOD(Measured, "the end of what the last failed run of a build printed is kept") {
  const Owner owner{OwnerKind::comparison, comparison.id};
  const auto benchmark = order_of(comparison, "d").benchmark;
  CHECK(reader.output_of(owner, comparison.candidate, benchmark).value().empty());
  for (const auto* token : {"d", "e", "f"}) {
    auto attempt = order_of(comparison, token);
    attempt.build = comparison.candidate;
    REQUIRE(stores.runs.issue(attempt, token, 5));
    // The last one printed nothing.
    const std::string output = token == std::string("f") ? "" : std::string("output of ") + token;
    REQUIRE(stores.runs.record({{token, AttemptFailure{"crashed", output}}}, 6));
  }
  CHECK(reader.output_of(owner, comparison.candidate, benchmark).value() == "output of e");
  CHECK(reader.output_of(owner, *comparison.baseline, benchmark).value().empty());
  REQUIRE(remove_outputs(*stores.database, INT64_MAX));
  CHECK(reader.output_of(owner, comparison.candidate, benchmark).value().empty());
}

TEST_CASE_METHOD(Measured, "runs on the same processor and system belong to one machine") {
  const auto machines = reader.machines().value();
  REQUIRE(machines.size() == 2);
  CHECK(machines.at(0).facts.at("cpu_model") == "Model Y");
  CHECK(machines.at(0).facts.count("heap") == 0);
  CHECK(machines.at(1).runs == 2);
  CHECK(machines.at(1).first_run_at == 1000 * first);
  CHECK(machines.at(1).last_run_at == 1000 * second);
  CHECK(reader.machine(2).value().facts.at("cpus") == "2");
  CHECK(reader.machine(3).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Measured,
                 "samples that were thinned are read as their number, median and spread") {
  const auto whole = reader.samples_of(first).value();
  for (const auto id : {Id{1}, Id{2}, Id{3}}) {
    VerdictRow row;
    row.comparison = comparison.id;
    row.series = {reader.get(id).value().benchmark, Metric::time};
    row.verdict = Verdict::unchanged;
    if (id != third) REQUIRE(stores.comparisons.add_verdict(row));
  }
  REQUIRE(stores.comparisons.advance(comparison, ComparisonState::reported, 5000));
  REQUIRE(thin_oldest_comparison(*stores.database, 6000).value());
  const auto thinned = reader.samples_of(first).value();
  REQUIRE(whole.size() == 4);
  REQUIRE(thinned.size() == 4);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    INFO(whole[i].kind);
    CHECK(thinned[i].kind == whole[i].kind);
    CHECK(thinned[i].digest == whole[i].digest);
    CHECK(thinned[i].count == whole[i].count);
    CHECK(thinned[i].median == whole[i].median);
    CHECK(thinned[i].spread == whole[i].spread);
    CHECK(thinned[i].is_thinned);
    CHECK(thinned[i].samples.empty());
    CHECK_FALSE(whole[i].is_thinned);
  }
  CHECK(whole.back().median == 30);
  CHECK(reader.get(first).value().is_thinned);
  CHECK(stores.runs.history({kBenchmark, Metric::time}, 10).value().at(0).is_thinned);
}

TEST_CASE_METHOD(Measured, "only what has not ended is counted, by state") {
  REQUIRE(stores.incidents.open(incident_of(comparison, "k1")));
  const auto closed = stores.incidents.open(incident_of(comparison, "k2")).value();
  REQUIRE(stores.incidents.close(closed.id, {"ada", "", 1}));
  REQUIRE(stores.requests.receive("d1", RequestKind::nightly, "{}", 1));
  const auto counts = open_counts(*stores.database).value();
  using ByState = OpenCounts::ByState;
  CHECK(counts.comparisons == ByState{{"discovered", 1}});
  CHECK(counts.incidents == ByState{{"open", 1}});
  CHECK(counts.messages == ByState{});
  CHECK(counts.requests == ByState{{"pending", 1}});
  CHECK_FALSE(counts.last_nightly_ended_at);
  REQUIRE(stores.comparisons.advance(comparison, ComparisonState::reported, 5000));
  CHECK(open_counts(*stores.database).value().last_nightly_ended_at == WallMillis{5000});
}
