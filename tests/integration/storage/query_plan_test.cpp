#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <set>

#include "connection.hpp"
#include "stores.hpp"
#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/access/token_store.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/runs/class_values.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/runs/machine_conditions.hpp"
#include "torchwatch/runs/node_values.hpp"
#include "torchwatch/runs/operator_runs.hpp"
#include "torchwatch/runs/past_values.hpp"
#include "torchwatch/runs/retention.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"
#include "torchwatch/storage/counts.hpp"
#include "torchwatch/storage/daemon_store.hpp"
#include "torchwatch/storage/event_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr int kRuns = 10'000;

/// Records every statement that a connection runs.
class StatementLog {
 public:
  explicit StatementLog(Database& database) : handle_(database.connection().sqlite.getHandle()) {
    sqlite3_trace_v2(handle_, SQLITE_TRACE_STMT, note, &texts_);
  }
  ~StatementLog() { sqlite3_trace_v2(handle_, 0, nullptr, nullptr); }
  StatementLog(const StatementLog&) = delete;
  StatementLog& operator=(const StatementLog&) = delete;

  const std::set<std::string>& texts() const { return texts_; }

 private:
  static int note(unsigned, void* texts, void* statement, void*) {
    const char* text = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
    if (text != nullptr) static_cast<std::set<std::string>*>(texts)->insert(text);
    return 0;
  }

  sqlite3* handle_;
  std::set<std::string> texts_;
};

/// Returns the steps of a statement's plan that read a whole table or index.
std::vector<std::string> scans_of(Database& database, const std::string& sql) {
  std::vector<std::string> scans;
  SQLite::Statement plan(database.connection().sqlite, "EXPLAIN QUERY PLAN " + sql);
  while (plan.executeStep()) {
    auto step = plan.getColumn(3).getString();
    if (step.starts_with("SCAN ") && step != "SCAN CONSTANT ROW") scans.push_back(std::move(step));
  }
  return scans;
}

/// Returns whether a table or index may be read whole: it has one row, lists the builds or the
/// suite, or holds only what is open.
const std::set<std::string> kAllowedScans{
    "SCAN writer",
    "SCAN build",
    "SCAN benchmark",  // as many as the suite has
    "SCAN benchmark USING INDEX sqlite_autoindex_benchmark_1",
    "SCAN benchmark USING COVERING INDEX sqlite_autoindex_benchmark_1",
    "SCAN comparison USING INDEX comparison_unfinished",
    "SCAN bisection USING INDEX bisection_open",
    "SCAN request USING INDEX request_pending",
    "SCAN request USING INDEX request_running",
    "SCAN request USING COVERING INDEX request_running",
    "SCAN attempt USING INDEX attempt_issued",
    "SCAN attempt USING COVERING INDEX attempt_issued",
    "SCAN left USING INDEX attempt_issued",
    "SCAN o USING INDEX outbox_unsent",
    "SCAN outbox USING INDEX outbox_not_sent",
    "SCAN alarm",  // a few a year
    "SCAN setback",
    "SCAN token",
    "SCAN machine",
    "SCAN machine_class",
    "SCAN measured",  // the benchmarks of a hundred comparisons
    "SCAN incident USING INDEX incident_open_once",
    "SCAN comparison",                     // a few a day; those of a build
    "SCAN newest",                         // a run of each benchmark
    "SCAN wanted VIRTUAL TABLE INDEX 1:",  // the comparisons of a page
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
};

/// Ten thousand runs in four comparisons, with verdicts, incidents, messages, bisections, requests.
struct FullDatabase : FreshStores {
  std::vector<ComparisonRow> comparisons;

  FullDatabase() {
    const auto base = comparison_of_two(stores);
    for (int i = 0; i < 4; ++i) {
      comparisons.push_back(
          stores.comparisons.open({Purpose::requested, base.candidate, base.baseline}, i).value());
    }
    REQUIRE(stores.database->transact([&] { return insert_runs(); }));
    REQUIRE(stores.database->transact([&] { return insert_rest(); }));
  }

  Status insert_runs() {
    for (int i = 0; i < kRuns; ++i) {
      const auto token = "t" + std::to_string(i);
      auto order = order_of(comparisons[static_cast<std::size_t>(i % 4)], token);
      order.benchmark.workload = "workload" + std::to_string(i % 84);
      TW_TRY_VOID(stores.runs.issue(order, token, i));
      auto result = full_result(token);
      result.samples_ns.assign(30, 1'000'000 + i);
      TW_TRY_VOID(stores.runs.record({{token, result}}, i));
    }
    return {};
  }

  Status insert_rest() {
    for (int i = 0; i < 50; ++i) {
      const auto name = std::to_string(i);
      TW_TRY(const auto incident, stores.incidents.open(incident_of(comparisons[0], "k" + name)));
      TW_TRY_VOID(stores.outbox.queue(message_of(incident, "m" + name, OutboxKind::open)));
      TW_TRY_VOID(stores.requests.receive("d" + name, RequestKind::nightly, "{}", i));
      BisectionRow row;
      row.incident = incident.id;
      TW_TRY(const auto search, stores.bisections.open(row));
      TW_TRY_VOID(stores.bisections.append(search.id, {0, "k", "{}"}));
    }
    return {};
  }

  void call_every_query() {
    auto& [database, builds, comparison_store, runs, incidents, outbox, bisections, requests] =
        stores;
    const auto comparison = comparisons[0];
    REQUIRE(builds.list());
    REQUIRE(ready_build(builds, "n9", "h9").id > 0);
    call_comparison_queries(comparison_store, comparison);
    REQUIRE(builds.set_unusable(comparison.candidate, "gone"));
    call_queries_of_the_service(*database);
    call_run_queries(runs, comparison);
    call_queries_of_readers(*database, comparison);
    call_queries_of_evidence(*database, comparison);
    call_outbox_queries(outbox);
    call_incident_queries(incidents, comparison);
    REQUIRE(comparison_store.advance(comparisons[1], ComparisonState::reported, 1));
    call_upkeep_queries(*database);
    REQUIRE(bisections.events_of(1));
    REQUIRE(bisections.list(10));
    REQUIRE(bisections.unfinished());
    REQUIRE(bisections.end(bisections.get(1).value(), "{}", 1));
    call_request_queries(requests);
  }

  static void call_comparison_queries(ComparisonStore& store, const ComparisonRow& comparison) {
    REQUIRE(store.list(10));
    REQUIRE(store.list_each(10));
    REQUIRE(store.unfinished());
    VerdictRow verdict;
    verdict.comparison = comparison.id;
    verdict.series = kTime;
    REQUIRE(store.add_verdict(verdict));
    REQUIRE(store.verdict_counts({comparison.id, 2}).at(comparison.id));
    REQUIRE(store.set_summary(comparison.id, "{}", 0.99));
    REQUIRE(store.nightlies_before(comparison.id, 10));
    REQUIRE(store.nightly_after(comparison.id));
    REQUIRE(store.nightlies_until(comparison.id));
    REQUIRE(store.nightly_of(comparison.candidate));
    REQUIRE(store.recheck_of(1, comparison.candidate));
    REQUIRE(store.rechecks_of(1, 10));
    REQUIRE(store.self_tests());
    REQUIRE(store.cancel(comparison.id, "by hand", 1));
    REQUIRE(store.retry(comparison.id));
    const auto again = store.get(comparison.id).value();
    REQUIRE(store.advance(store.set_plan(again, "{}").value(), ComparisonState::bisected, 1));
  }

  static void call_queries_of_the_service(Database& database) {
    DaemonStore daemons(database);
    REQUIRE(daemons.note_start(1));
    REQUIRE(daemons.note_stop(2));
    REQUIRE(daemons.last());
    SetbackStore setbacks(database);
    const ItemKey key{ItemKind::comparison, "7"};
    REQUIRE(setbacks.record({.key = key, .error = "e"}));
    REQUIRE(setbacks.find(key).value());
    REQUIRE(setbacks.list());
    REQUIRE(setbacks.clear(key));
    TokenStore tokens(database);
    const auto token = tokens.add("ci", std::string(64, '0'), all_scopes(), 1, {}).value().id;
    REQUIRE(tokens.note_use(token, 2));
    REQUIRE(tokens.revoke(token, 3, {}));
    REQUIRE(tokens.list());
    AuditStore audit(database);
    REQUIRE(audit.add({1, "/api/v1/database/gc", "", "uid 1000", 1}));
    REQUIRE(audit.list(10));
  }

  static void call_request_queries(RequestStore& requests) {
    const auto request = requests.with_state(RequestState::pending).value().at(0).id;
    REQUIRE(requests.claim(request));
    REQUIRE(requests.note(request, "{}"));
    REQUIRE(requests.with_state(RequestState::running));
    REQUIRE(requests.reopen(request));
    REQUIRE(requests.answer(request, RequestState::done, "{}"));
    REQUIRE(requests.list(10));
    REQUIRE(requests.get(1));
  }

  static void call_upkeep_queries(Database& database) {
    AlarmStore alarms(database);
    REQUIRE(alarms.times());
    const auto alarm = alarms.raise({.issue_number = {}}, message_of("a")).value();
    REQUIRE(alarms.open().value().size() == 1);
    REQUIRE(alarms.end(alarm, message_of("b"), 1));
    REQUIRE(thin_oldest_comparison(database, INT64_MAX).value());
    REQUIRE(remove_outputs(database, INT64_MAX).value() == 1);
    REQUIRE(thinned_samples_of(database, 77));
  }

  static void call_run_queries(RunStore& runs, const ComparisonRow& comparison) {
    const Owner owner{OwnerKind::comparison, comparison.id};
    REQUIRE(runs.disturbance_of(owner, Pass::timing));
    REQUIRE(runs.issue(order_of(comparison, "late"), "late", 1));
    REQUIRE(runs.record({{"late", AttemptFailure{"r", "o"}}}, 1));
    REQUIRE(runs.abandon_leftovers(1));
    REQUIRE(runs.runs_of(owner).value().size() >= kRuns / 4);
    REQUIRE(runs.runs_of({OwnerKind::bisection, 1}));

    REQUIRE(runs.samples_of(77).value().size() == 30);
    REQUIRE(runs.result_of(77));
    auto series = kTime;
    series.benchmark.workload = "workload5";
    REQUIRE(runs.history(series, 100).value().size() == 100);
    REQUIRE(runs.history(series, 10, RunStore::HistoryOf::published_builds).value().size() == 10);
  }

  static void call_queries_of_readers(Database& database, const ComparisonRow& comparison) {
    RunReader reader(database);
    REQUIRE(reader.list({OwnerKind::comparison, comparison.id}, {}, 50, INT64_MAX).value().size() ==
            50);
    REQUIRE(reader.list({OwnerKind::bisection, 1}, {.workload = "a"}, 50, INT64_MAX));
    REQUIRE(reader.output_of({OwnerKind::comparison, comparison.id}, 1, kTime.benchmark));
    REQUIRE(reader.get(77));
    REQUIRE(reader.values_of({77, 78}).value().size() > 1);
    REQUIRE(reader.samples_of(77));
    REQUIRE(reader.machines());
    REQUIRE(reader.machine(1).error().code == ErrorCode::not_found);
    REQUIRE(open_counts(database));
    REQUIRE(newest_issue(database));
    EventStore events(database);
    REQUIRE(events.kept().value().newest > 0);
    REQUIRE(events.after(5, 10).value().size() == 10);
  }

  static void call_queries_of_evidence(Database& database, const ComparisonRow& comparison) {
    REQUIRE(verdicts_of(database, comparison.id));
    REQUIRE(verdicts_of(database, comparison.id, Metric::time));
    REQUIRE(verdict_on(database, comparison.id, kTime));
    EvidenceReader reader(database);
    REQUIRE(reader.past_of({.series = kTime, .slots = {"t0", "t1"}, .limit = 10}));
    REQUIRE(past_values(database, kTime, nightlies_after(database, 0).value(), 10));
    REQUIRE(reader.judged_nightlies(comparison.id, 90));
    REQUIRE(reader.levels_between(1, comparison.id, Metric::time));
    REQUIRE(reader.profiles_of(comparison.candidate));
    REQUIRE(reader.operators_of(comparison.candidate));
    REQUIRE(reader.operators_registered_in(comparison.candidate));
    REQUIRE(operator_runs_of(database, comparison.id, "operators/"));
    REQUIRE(machine_classes(database));
    REQUIRE(values_by_class(database, comparison.candidate, Metric::time));
    REQUIRE(builds_on_classes(database));
    REQUIRE(conditions_of(database, 1));
    REQUIRE(self_tests_on(database, 1));
    REQUIRE(comparisons_on_nodes(database, 30));
    REQUIRE(node_values_of(database, comparison.id));
    REQUIRE(drills(database));
    REQUIRE(drills_on(database, 1));
    REQUIRE(last_drill(database));
    REQUIRE(reader.profile_runs_of(comparison.candidate));
    REQUIRE(reader.profile_runs_of(kTime.benchmark, 20));
    REQUIRE(reader.profile_run(77).error().code == ErrorCode::not_found);
    REQUIRE(reader.counts_of(comparison.id, "/confirm/").value().done >= kRuns / 4);
    REQUIRE(reader.running_in(comparison.id).value().empty());
    REQUIRE(reader.durations_of(Purpose::nightly, 14));
    REQUIRE(reader.first_runs_of({comparison.id, 2}).value().contains(comparison.id));
    REQUIRE(reader.benchmarks_lost_in({comparison.id, 2}));
    REQUIRE(reader.self_tests_near({comparison.id, 2}));
    REQUIRE(TrunkRangeStore(database).find_each({comparison.id, 2}));
  }

  static void call_outbox_queries(OutboxStore& outbox) {
    REQUIRE(outbox.of_incident(3));
    REQUIRE(outbox.subject_of("m3"));
    REQUIRE(outbox.next_due(1).value());
    REQUIRE(outbox.mark_sending("m0"));
    REQUIRE(outbox.record_failure("m0", {.error = "e", .not_before = 1}));
    REQUIRE(outbox.mark_sending("m0"));
    REQUIRE(outbox.mark_sent("m0", 1, 1000));
    REQUIRE(outbox.unsent());
    REQUIRE(outbox.make_due());
  }

  static void call_incident_queries(IncidentStore& incidents, const ComparisonRow& comparison) {
    REQUIRE(incidents.find_open("k7").value());
    REQUIRE(incidents.list(10));
    REQUIRE(incidents.of_comparison(comparison.id));
    REQUIRE(incidents.of_series({{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time}));
    REQUIRE(incidents.set_title(3, "t"));
    REQUIRE(incidents.add_recurrence(3, comparison.id));
    REQUIRE(incidents.found_again_by(comparison.id));
    REQUIRE(incidents.acknowledge(3, {"ada", "", 1}));
    REQUIRE(incidents.dispute(3, {"ada", "wrong", 1}));
    REQUIRE(incidents.close(3, {"ada", "", 1}));
    REQUIRE(incidents.reopen(3, {"ada", "", 1}));
    REQUIRE(incidents.accept(4, {"ada", "wanted", 1}));
  }
};

/// The steps of a statement's plan, a line each.
std::string plan_of(Database& database, const std::string& sql) {
  std::string steps;
  SQLite::Statement plan(database.connection().sqlite, "EXPLAIN QUERY PLAN " + sql);
  while (plan.executeStep()) steps += plan.getColumn(3).getString() + "\n";
  return steps;
}

}  // namespace

TEST_CASE_METHOD(FullDatabase,
                 "an attempt of a comparison with a known slot is found by its slot") {
  StatementLog log(*stores.database);
  call_queries_of_evidence(*stores.database, comparisons[0]);
  REQUIRE(EvidenceReader(*stores.database).observed_before(Pass::coverage, 1));
  int by_slot = 0;
  for (const auto& sql : std::set<std::string>(log.texts())) {
    const bool asks_for_slot = sql.find("slot IN (") != std::string::npos ||
                               sql.find("slot = ") != std::string::npos ||
                               sql.find("slot >= ") != std::string::npos;
    if (!asks_for_slot) continue;
    ++by_slot;
    CAPTURE(sql);
    CHECK_THAT(plan_of(*stores.database, sql),
               Catch::Contains("INDEX attempt_slot_of_comparison (comparison_id=? AND slot"));
  }
  CHECK(by_slot == 5);
}

TEST_CASE_METHOD(FullDatabase,
                 "no query reads a big table as a whole, with ten thousand runs stored") {
  StatementLog log(*stores.database);
  call_every_query();
  const auto statements = log.texts();
  REQUIRE(statements.size() > 50);
  std::size_t planned = 0;
  for (const auto& sql : statements) {
    if (!sql.starts_with("SELECT") && !sql.starts_with("UPDATE")) continue;
    ++planned;
    for (const auto& scan : scans_of(*stores.database, sql)) {
      CAPTURE(sql);
      REQUIRE_THAT(std::vector<std::string>(kAllowedScans.begin(), kAllowedScans.end()),
                   Catch::VectorContains(scan));
    }
  }
  REQUIRE(planned > 40);
}
