#include <catch2/catch.hpp>

#include "stores.hpp"

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
  REQUIRE(a.environment.facts == b.environment.facts);
  REQUIRE(a.environment.volatile_facts == b.environment.volatile_facts);
}

struct NightWithRuns : FreshStores {
  NightRow night = night_of_two(stores);
  RunStore& runs = stores.runs;
  Owner owner{OwnerKind::night, night.id};

  Id issue(const std::string& slot, const std::string& token) {
    return runs.issued(order_of(night, slot), token, 10).value();
  }
};

}  // namespace

TEST_CASE_METHOD(NightWithRuns, "a result comes back member by member as the runner stated it") {
  const Id attempt = issue("A1", "t1");
  REQUIRE(runs.finished("t1", full_result("t1"), 20));
  require_equal(runs.result_of(attempt).value(), full_result("t1"));
  REQUIRE(runs.samples_of(attempt).value() == full_result("t1").samples_ns);
}

TEST_CASE_METHOD(NightWithRuns, "the runs of an owner are those that ended, in order") {
  issue("A1", "t1");
  issue("B1", "t2");
  issue("B2", "t3");
  REQUIRE(runs.failed("t2", "killed by signal 11", "last words", 20));
  REQUIRE(runs.finished("t1", full_result("t1"), 30));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].slot == "A1");
  REQUIRE(rows[0].cell == kCell);
  REQUIRE(rows[0].build == night.candidate);
  REQUIRE(rows[0].values == full_result("t1").values);
  REQUIRE(rows[1].status == RunStatus::failed);
  REQUIRE(rows[1].reason == "killed by signal 11");
  REQUIRE(rows[1].values.empty());
}

TEST_CASE_METHOD(NightWithRuns, "runs that end together are stored together or not at all") {
  issue("A1", "t1");
  issue("B1", "t2");
  const storage::AttemptFailure failure{"killed by signal 11", "last words"};
  REQUIRE(runs.ended({{"t1", full_result("t1")}, {"t9", failure}}, 20).error().code ==
          ErrorCode::not_found);
  REQUIRE(runs.runs_of(owner).value().empty());
  REQUIRE(runs.ended({{"t1", full_result("t1")}, {"t2", failure}}, 20));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].status == RunStatus::ok);
  REQUIRE(rows[1].reason == "killed by signal 11");
}

TEST_CASE_METHOD(NightWithRuns, "a workload that failed is a result as well") {
  issue("A1", "t1");
  RunResult result;
  result.attempt = "t1";
  result.status = RunStatus::unsupported;
  result.reason = "no such device";
  REQUIRE(runs.finished("t1", result, 20));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows.at(0).status == RunStatus::unsupported);
  REQUIRE(rows.at(0).reason == "no such device");
}

TEST_CASE_METHOD(NightWithRuns, "a late twin changes nothing") {
  const Id attempt = issue("A1", "t1");
  REQUIRE(runs.finished("t1", full_result("t1"), 20));
  auto twin = full_result("t1");
  twin.samples_ns = {999};
  REQUIRE(runs.finished("t1", twin, 30).error().code == ErrorCode::conflict);
  REQUIRE(runs.failed("t1", "late", "", 30).error().code == ErrorCode::conflict);
  REQUIRE(runs.samples_of(attempt).value() == full_result("t1").samples_ns);
  REQUIRE(runs.runs_of(owner).value().size() == 1);
}

TEST_CASE_METHOD(NightWithRuns, "the result of an abandoned attempt is not counted") {
  issue("A1", "t1");
  REQUIRE(runs.abandoned_leftovers(15).value() == 1);
  REQUIRE(runs.finished("t1", full_result("t1"), 20).error().code == ErrorCode::conflict);
  REQUIRE(runs.runs_of(owner).value().empty());
  REQUIRE(runs.attempts_of_slot(owner, "A1").value() == 1);
  issue("A1", "t2");
  REQUIRE(runs.attempts_of_slot(owner, "A1").value() == 2);
}

TEST_CASE_METHOD(NightWithRuns, "a stopped run frees its slot") {
  issue("A1", "t1");
  REQUIRE(runs.abandoned("t1", "stopped", 15));
  REQUIRE(runs.abandoned("t1", "stopped", 15).error().code == ErrorCode::conflict);
  issue("A1", "t2");
}

TEST_CASE_METHOD(NightWithRuns, "a token is issued once and a slot filled once") {
  issue("A1", "t1");
  REQUIRE(runs.issued(order_of(night, "A2"), "t1", 1).error().code == ErrorCode::conflict);
  REQUIRE(runs.issued(order_of(night, "A1"), "t2", 1).error().code == ErrorCode::conflict);
}

TEST_CASE_METHOD(NightWithRuns, "a result of another attempt, or of none, is refused") {
  issue("A1", "t1");
  REQUIRE(runs.finished("t1", full_result("t0"), 20).error().code == ErrorCode::conflict);
  REQUIRE(runs.finished("t9", full_result("t9"), 20).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(NightWithRuns, "an attempt for a night that does not exist is refused") {
  auto order = order_of(night, "A1");
  order.owner.id = 77;
  REQUIRE(runs.issued(order, "t1", 1).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(NightWithRuns, "equal facts are one environment, whatever is volatile") {
  issue("A1", "t1");
  issue("A2", "t2");
  issue("A3", "t3");
  auto second = full_result("t2");
  second.environment.volatile_facts = {{"load", 99}};
  auto third = full_result("t3");
  third.environment.facts["threads"] = "4";
  REQUIRE(runs.finished("t1", full_result("t1"), 20));
  REQUIRE(runs.finished("t2", second, 20));
  REQUIRE(runs.finished("t3", third, 20));
  const auto rows = runs.runs_of(owner).value();
  REQUIRE(rows[0].environment_digest == rows[1].environment_digest);
  REQUIRE(rows[0].environment_digest != rows[2].environment_digest);
  REQUIRE(runs.environment(rows[2].environment_digest).value().facts == third.environment.facts);
  REQUIRE(runs.environment("none").error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(NightWithRuns, "a history is the newest values of one series, oldest first") {
  for (int i = 0; i < 5; ++i) {
    const auto token = "t" + std::to_string(i);
    issue("A" + std::to_string(i), token);
    auto result = full_result(token);
    result.values = {{Metric::time, 100 + i}, {Metric::cpu_peak, 7}};
    REQUIRE(runs.finished(token, result, 1000 + i));
  }
  const auto history = runs.history(kTime, 3).value();
  REQUIRE(history.size() == 3);
  REQUIRE(history.front().value == 102);
  REQUIRE(history.back().value == 104);
  REQUIRE(history.back().measured_at == 1004);
  REQUIRE(history.back().build == night.candidate);
  REQUIRE(runs.history({kCell, Metric::device_time}, 3).value().empty());
}

TEST_CASE_METHOD(NightWithRuns, "runs of a search are kept apart from those of a night") {
  BisectionRow search;
  search.good = "aaa";
  search.bad = "bbb";
  search.request_json = "{}";
  const auto bisection = stores.bisections.opened(search).value();
  auto order = order_of(night, "A1");
  order.owner = {OwnerKind::bisection, bisection.id};
  REQUIRE(runs.issued(order, "s1", 1));
  issue("A1", "t1");
  REQUIRE(runs.finished("s1", full_result("s1"), 2));
  REQUIRE(runs.runs_of(owner).value().empty());
  REQUIRE(runs.runs_of(order.owner).value().size() == 1);
}
