#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <set>

#include "connection.hpp"
#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr int kRuns = 10'000;

/// Every statement that the connection has run since.
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

/// The steps of its plan that read a whole table or index.
std::vector<std::string> scans_of(Database& database, const std::string& sql) {
  std::vector<std::string> scans;
  SQLite::Statement plan(database.connection().sqlite, "EXPLAIN QUERY PLAN " + sql);
  while (plan.executeStep()) {
    auto step = plan.getColumn(3).getString();
    if (step.starts_with("SCAN ") && step != "SCAN CONSTANT ROW") scans.push_back(std::move(step));
  }
  return scans;
}

/// What may be read whole: one row, the list of builds, and indexes that hold only what is open.
const std::set<std::string> kAllowedScans{
    "SCAN writer",
    "SCAN build",
    "SCAN night USING INDEX night_unfinished",
    "SCAN bisection USING INDEX bisection_open",
    "SCAN request USING INDEX request_pending",
    "SCAN request USING INDEX request_running",
    "SCAN request USING COVERING INDEX request_running",
    "SCAN attempt USING INDEX attempt_issued",
    "SCAN attempt USING COVERING INDEX attempt_issued",
    "SCAN o USING INDEX outbox_unsent",
};

/// Ten thousand runs in four nights, with verdicts, incidents, messages, searches, requests.
struct FullDatabase : FreshStores {
  std::vector<NightRow> nights;

  FullDatabase() {
    const auto base = night_of_two(stores);
    for (int i = 0; i < 4; ++i) {
      nights.push_back(
          stores.nights.opened(NightKind::compare, base.candidate, base.baseline, i).value());
    }
    REQUIRE(stores.database->transact([&] { return insert_runs(); }));
    REQUIRE(stores.database->transact([&] { return insert_rest(); }));
  }

  Status insert_runs() {
    for (int i = 0; i < kRuns; ++i) {
      const auto token = "t" + std::to_string(i);
      auto order = order_of(nights[static_cast<std::size_t>(i % 4)], token);
      order.cell.workload = "workload" + std::to_string(i % 84);
      TW_TRY_VOID(stores.runs.issued(order, token, i));
      auto result = full_result(token);
      result.samples_ns.assign(30, 1'000'000 + i);
      TW_TRY_VOID(stores.runs.finished(token, result, i));
    }
    return {};
  }

  Status insert_rest() {
    for (int i = 0; i < 50; ++i) {
      const auto name = std::to_string(i);
      TW_TRY(const auto incident, stores.incidents.opened(incident_of(nights[0], "k" + name)));
      TW_TRY_VOID(stores.incidents.queued(message_of(incident, "m" + name, OutboxKind::open)));
      TW_TRY_VOID(stores.requests.received("d" + name, RequestKind::nightly, "{}", i));
      BisectionRow row;
      row.incident = incident.id;
      TW_TRY(const auto search, stores.bisections.opened(row));
      TW_TRY_VOID(stores.bisections.happened(search.id, {0, "k", "{}"}));
    }
    return {};
  }

  void call_every_query() {
    auto& [database, builds, night_store, runs, incidents, bisections, requests] = stores;
    const auto night = nights[0];
    REQUIRE(builds.list());
    REQUIRE(ready_build(builds, "n9", "h9").id > 0);
    REQUIRE(night_store.list(10));
    REQUIRE(night_store.unfinished());
    VerdictRow verdict;
    verdict.night = night.id;
    verdict.target = kTime;
    REQUIRE(night_store.verdict_reached(verdict));
    REQUIRE(night_store.verdicts_of(night.id));
    REQUIRE(night_store.summarised(night.id, "{}"));
    REQUIRE(night_store.nightlies_before(night.id, 10));
    REQUIRE(night_store.nightlies_until(night.id));
    REQUIRE(night_store.nightly_of(night.candidate));
    REQUIRE(night_store.self_tests());
    REQUIRE(night_store.advanced(night_store.planned(night, "{}").value(), NightState::ready, 1));
    call_run_queries(runs, night);
    call_incident_queries(incidents, night);
    REQUIRE(bisections.events_of(1));
    REQUIRE(bisections.list(10));
    REQUIRE(bisections.open_ones());
    REQUIRE(bisections.ended(bisections.get(1).value(), "{}", 1));
    REQUIRE(requests.taken());
    REQUIRE(requests.reopened());
    REQUIRE(requests.answered(requests.taken().value()->id, RequestState::done, "{}"));
    REQUIRE(requests.list(10));
  }

  static void call_run_queries(RunStore& runs, const NightRow& night) {
    const Owner owner{OwnerKind::night, night.id};
    REQUIRE(runs.issued(order_of(night, "late"), "late", 1));
    REQUIRE(runs.failed("late", "r", "o", 1));
    REQUIRE(runs.abandoned_leftovers(1));
    REQUIRE(runs.runs_of(owner).value().size() >= kRuns / 4);
    REQUIRE(runs.runs_of({OwnerKind::bisection, 1}));
    REQUIRE(runs.attempts_of_slot(owner, "late"));
    REQUIRE(runs.samples_of(77).value().size() == 30);
    REQUIRE(runs.result_of(77));
    auto target = kTime;
    target.cell.workload = "workload5";
    REQUIRE(runs.history(target, 100).value().size() == 100);
  }

  static void call_incident_queries(IncidentStore& incidents, const NightRow& night) {
    REQUIRE(incidents.find_open("k7").value());
    REQUIRE(incidents.list(10));
    REQUIRE(incidents.of_night(night.id));
    REQUIRE(incidents.outbox_of(3));
    REQUIRE(incidents.next_due(1).value());
    REQUIRE(incidents.sending("m0"));
    REQUIRE(incidents.send_failed("m0", "e", 1, false));
    REQUIRE(incidents.sending("m0"));
    REQUIRE(incidents.sent("m0", 1));
    REQUIRE(incidents.acknowledged(3));
    REQUIRE(incidents.closed(3, 1));
    REQUIRE(incidents.accepted(4, {"ada", "wanted", 1}));
  }
};

}  // namespace

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
