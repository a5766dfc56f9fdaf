#include "migrations.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "copies.hpp"
#include "environments.hpp"
#include "file_content.hpp"
#include "samples.hpp"
#include "sqlite_errors.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/retention.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/event_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/study_store.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "transaction.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace fs = std::filesystem;

namespace {

constexpr SqlFile kFirst{"0001_first", "CREATE TABLE a (x); INSERT INTO a VALUES (1);"};
constexpr SqlFile kSecond{"0002_second", "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x;"};
constexpr SqlFile kBroken{"0003_broken", "INSERT INTO a VALUES (2, 2); CREATE TABLE a (z);"};

struct OneConnection {
  test::TemporaryFolder folder;
  fs::path path = folder.path() / "t.sqlite";

  std::unique_ptr<Connection> connect() const {
    return std::make_unique<Connection>(
        path, WriterLock(),
        SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE));
  }
  Status migrate_to(std::span<const SqlFile> migrations) const {
    const auto connection = connect();
    return guarded(path, [&] { return migrate(*connection, migrations); });
  }
  int version() const { return user_version(*connect()); }
  int rows_of_a() const { return connect()->sqlite.execAndGet("SELECT count(*) FROM a").getInt(); }
};

std::set<std::string> sql_files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& file : fs::directory_iterator(fs::path(TORCHWATCH_SOURCE_DIR) / folder)) {
    names.insert(file.path().stem().string());
  }
  return names;
}

}  // namespace

TEST_CASE_METHOD(OneConnection,
                 "migrations are applied from empty and from every version between") {
  REQUIRE(migrate_to(std::array{kFirst}));
  REQUIRE(version() == 1);
  REQUIRE(migrate_to(std::array{kFirst, kSecond}));
  REQUIRE(version() == 2);
  REQUIRE(migrate_to(std::array{kFirst, kSecond}));
  REQUIRE(connect()->sqlite.execAndGet("SELECT y FROM a").getInt() == 1);
}

TEST_CASE_METHOD(OneConnection, "a database with content is backed up before it is migrated") {
  REQUIRE(migrate_to(std::array{kFirst}));
  REQUIRE(fs::directory_iterator(folder.path())->path() == path);
  REQUIRE(migrate_to(std::array{kFirst, kSecond}));
  const auto backup = backup_before_migration(path, 1);
  REQUIRE(fs::exists(backup));
  SQLite::Database copy(backup.string());
  REQUIRE(copy.execAndGet("PRAGMA user_version").getInt() == 1);
  REQUIRE(copy.execAndGet("SELECT x FROM a").getInt() == 1);
  REQUIRE_FALSE(fs::exists(backup.string() + ".partial"));
}

TEST_CASE_METHOD(OneConnection, "the remains of a killed backup are replaced") {
  REQUIRE(migrate_to(std::array{kFirst}));
  folder.write(backup_before_migration(path, 1).filename().string() + ".partial", "half");
  REQUIRE(migrate_to(std::array{kFirst, kSecond}));
  REQUIRE(fs::exists(backup_before_migration(path, 1)));
}

TEST_CASE_METHOD(OneConnection, "a database that cannot be backed up is not migrated") {
  REQUIRE(migrate_to(std::array{kFirst}));
  fs::create_directories(backup_before_migration(path, 1) / "in the way");
  REQUIRE(migrate_to(std::array{kFirst, kSecond}).error().code == ErrorCode::unavailable);
  REQUIRE(version() == 1);
  REQUIRE_FALSE(fs::exists(backup_before_migration(path, 1).string() + ".partial"));
}

TEST_CASE_METHOD(OneConnection, "a migration that fails keeps the version before and is named") {
  const auto failed = migrate_to(std::array{kFirst, kSecond, kBroken});
  REQUIRE_THAT(failed.error().message, Catch::Contains("0003_broken"));
  REQUIRE(version() == 2);
  REQUIRE(rows_of_a() == 1);
}

TEST_CASE("migrations are numbered without a gap, and all files are in the program") {
  int number = 0;
  std::set<std::string> embedded;
  for (const auto& migration : embedded_migrations()) {
    embedded.insert(std::string(migration.name));
    REQUIRE(std::stoi(std::string(migration.name.substr(0, 4))) == ++number);
    const auto file = fs::path(TORCHWATCH_SOURCE_DIR) / "storage/database/migrations" /
                      (std::string(migration.name) + ".sql");
    REQUIRE(test::content_of(file) == migration.sql);
  }
  REQUIRE(embedded == sql_files_in("storage/database/migrations"));
}

TEST_CASE_METHOD(OneConnection,
                 "a file of the first schema is migrated to this one with its rows") {
  REQUIRE(migrate_to(std::array{embedded_migrations().front()}));
  connect()->sqlite.exec(
      "INSERT INTO build VALUES (1, 'nightly', 'n1', '', '', '', 'h', '/n1', 'ready', '');"
      "INSERT INTO night VALUES (1, 'nightly', 1, NULL, 0, 'accepted', 1, '', 'first', 5, 6);"
      "INSERT INTO incident VALUES (1, 1, 'k', 'regression', 'open', 't', NULL, NULL, 7, NULL)");
  const auto opened = Database::open({path, "", false}).value();
  const auto comparison = ComparisonStore(*opened).get(1).value();
  REQUIRE(comparison.reason == "first");
  REQUIRE(comparison.summary_json.empty());
  const auto incident = IncidentStore(*opened).get(1).value();
  REQUIRE(incident.title == "t");
  REQUIRE_FALSE(incident.acceptance);
  REQUIRE(IncidentStore(*opened).accept(1, {"ada", "wanted", 8}));
  REQUIRE(opened->check_invariants().value().empty());
}

TEST_CASE_METHOD(
    OneConnection,
    "a file of the ninth schema keeps its acceptances as decisions, and its messages") {
  const auto all = embedded_migrations();
  {
    const auto connection = connect();
    REQUIRE(guarded(path, [&] { return migrate(*connection, all.first(9)); }));
  }
  connect()->sqlite.exec(
      "INSERT INTO build VALUES (1, 'nightly', 'n1', '', '', '', 'h', '/n1', 'ready', '', '');"
      "INSERT INTO comparison (id, purpose, candidate_id, repetition, opens_incidents, state, "
      "created_at, ended_at) VALUES (1, 'nightly', 1, 0, 0, 'reported', 5, 6);"
      "INSERT INTO incident VALUES (1, 1, 'k', 'regression', 'closed', 't', NULL, 12, 7, 9);"
      "INSERT INTO acceptance (incident_id, accepted_by, reason, accepted_at) "
      "VALUES (1, 'ada', 'wanted', 8);"
      "INSERT INTO outbox (key, incident_id, kind, title, body, digest, state, not_before, "
      "issue_number, sent_at) VALUES ('open-k', 1, 'open', 't', 'b', '" +
      digest::sha256_hex("t\nb") +
      "', 'sent', 0, 12, 7);"
      "INSERT INTO request (delivery, kind, state, body_json, asked_by, created_at) "
      "VALUES ('d', 'nightly', 'done', '{}', 1000, 5);");
  const auto opened = Database::open({path, "", false}).value();
  IncidentStore incidents(*opened);
  const auto incident = incidents.get(1).value();
  REQUIRE(incident.acceptance);
  REQUIRE(incident.acceptance->by == "ada");
  REQUIRE(incident.decisions.size() == 1);
  REQUIRE(incident.decisions[0].decision.asked_by.empty());
  REQUIRE(OutboxStore(*opened).of_incident(1).value().at(0).issue_number == 12);
  REQUIRE(RequestStore(*opened).get(1).value().asked_by.user == 1000);
  REQUIRE(incidents.reopen(1, {"bob", "", 10}));
  OutboxRow message;
  message.key = "reopened-k";
  message.incident = 1;
  message.kind = OutboxKind::reopen;
  REQUIRE(OutboxStore(*opened).queue(message));
  REQUIRE(EventStore(*opened).after(0, 100).value().back().item == "reopened-k");
  REQUIRE(opened->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneConnection,
                 "a file of the second schema keeps its samples, without any of the heap") {
  REQUIRE(migrate_to(embedded_migrations().first(2)));
  connect()->sqlite.exec(
      "INSERT INTO build VALUES (1, 'nightly', 'n1', '', '', '', 'h', '/n1', 'ready', '');"
      "INSERT INTO night VALUES (1, 'nightly', 1, NULL, 0, 'accepted', 1, '', '', 5, 6, '');"
      "INSERT INTO cell VALUES (1, 'dlrm', 'cpu-train', 'default');"
      "INSERT INTO attempt VALUES (1, 't1', 1, 1, NULL, 'A1', 1, 1, 'memory', 'done', '', '', 7, "
      "8);"
      "INSERT INTO environment VALUES (1, '" +
      digest::sha256_hex("") +
      "');"
      "INSERT INTO result VALUES (1, 't1', 'ok', '', 1, 1, 0, 0, NULL, NULL, NULL, '')");
  store_samples(*connect(), 1, kLiveBytes, {10, 20, 30});
  const auto opened = Database::open({path, "", false}).value();
  const auto leak = RunStore(*opened).result_of(1).value().leak.value();
  REQUIRE(leak.live_bytes == std::vector<std::int64_t>{10, 20, 30});
  REQUIRE(leak.heap_bytes.empty());
  REQUIRE(opened->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneConnection, "samples of pull requests that were left are thinned after all") {
  REQUIRE(migrate_to(embedded_migrations().first(29)));
  connect()->sqlite.exec(
      "INSERT INTO build (id, origin, name, state) VALUES (1, 'nightly', 'n1', 'discovered');"
      "INSERT INTO comparison (id, purpose, candidate_id, baseline_id, repetition, "
      "opens_incidents, state, created_at, ended_at, samples_thinned) VALUES "
      "(1, 'nightly', 1, 1, 0, 1, 'reported', 5, 6, 1),"
      "(2, 'pull_request', 1, 1, 0, 0, 'reported', 5, 7, 1)");
  const auto opened = Database::open({path, "", false}).value();
  REQUIRE(thin_oldest_comparison(*opened, 100).value());
  REQUIRE_FALSE(thin_oldest_comparison(*opened, 100).value());
}

TEST_CASE_METHOD(OneConnection, "a database without incidents of results keeps those that it has") {
  constexpr std::size_t kBefore = 27;
  REQUIRE(migrate_to(embedded_migrations().first(kBefore)));
  connect()->sqlite.exec(
      "INSERT INTO build (id, origin, name, content_hash, folder, state) VALUES "
      "(1, 'nightly', 'n1', 'h1', '/n1', 'ready'), (2, 'nightly', 'n2', 'h2', '/n2', 'ready');"
      "INSERT INTO comparison (id, purpose, candidate_id, baseline_id, repetition, "
      "opens_incidents, state, created_at) VALUES (7, 'nightly', 2, 1, 0, 1, 'ready', 5);"
      "INSERT INTO incident (id, comparison_id, key, kind, state, title, issue_number, opened_at, "
      "unfiled) VALUES (3, 7, 'k', 'leak', 'acknowledged', 'a title', 12, 6, 'no token');"
      "INSERT INTO decision (incident_id, kind, made_by, reason, made_at) VALUES "
      "(3, 'acknowledged', 'ada', '', 8)");
  const auto opened = Database::open({path, "", false}).value();
  const auto kept = IncidentStore(*opened).get(3).value();
  CHECK(kept.kind == IncidentKind::leak);
  CHECK(kept.title == "a title");
  CHECK(kept.issue_number == 12);
  const auto newest = EventStore(*opened).after(0, 100).value().size();
  connect()->sqlite.exec(
      "INSERT INTO incident (comparison_id, key, kind, state, title, opened_at) "
      "VALUES (7, 'r', 'result', 'open', 'another', 9)");
  // The triggers of the table were made again with it.
  CHECK(EventStore(*opened).after(0, 100).value().size() == newest + 1);
  CHECK(opened->check_invariants().value().empty());
}

TEST_CASE("the program contains all files of invariants") {
  std::set<std::string> embedded;
  for (const auto& invariant : embedded_invariants()) embedded.insert(std::string(invariant.name));
  REQUIRE(embedded == sql_files_in("storage/database/invariants"));
}

TEST_CASE_METHOD(OneConnection,
                 "a database of the third schema keeps what its comparisons are for") {
  connect()->sqlite.exec(test::content_of(fs::path(TORCHWATCH_BINARY_DIR) /
                                          "tests/recordings/database-of-286d2e2.sql"));
  const auto opened = Database::open({path, "", false}).value();
  ComparisonStore comparisons(*opened);
  const auto row = [&](Id id) { return comparisons.get(id).value(); };

  CHECK(row(1).purpose == Purpose::nightly);
  CHECK(row(1).state == ComparisonState::accepted);
  CHECK(row(2).purpose == Purpose::nightly);
  CHECK(row(2).opens_incidents);
  CHECK(row(3).purpose == Purpose::self_test);
  CHECK(row(3).budget_series == 6);
  CHECK_FALSE(row(3).opens_incidents);
  CHECK(row(7).purpose == Purpose::drift);
  CHECK(row(7).nightlies_back == 2);
  CHECK(row(7).opens_incidents);
  CHECK(row(7).reason.empty());
  CHECK(row(9).purpose == Purpose::requested);
  CHECK_FALSE(row(9).opens_incidents);
  CHECK(row(10).purpose == Purpose::recheck);
  CHECK(row(10).incident == 1);
  CHECK(row(11).purpose == Purpose::measurement);
  CHECK_FALSE(row(11).baseline);

  CHECK_THAT(row(9).plan_json, Catch::Contains("\"benchmarks\":[{"));
  CHECK_THAT(row(9).plan_json, Catch::Contains("\"interleave\":true"));
  CHECK_THAT(row(9).plan_json, !Catch::Contains("rechecks") && !Catch::Contains("cells"));
  CHECK(verdicts_of(*opened, 2).value().size() == 6);
  CHECK(RunStore(*opened).runs_of({OwnerKind::comparison, 2}).value().size() > 8);

  BisectionStore bisections(*opened);
  const auto open = bisections.unfinished().value().at(0);
  CHECK_THAT(open.spec_json, Catch::Contains("\"series\":[{"));
  const auto event = bisections.events_of(open.id).value().at(0);
  CHECK(event.kind == "series_lost");
  CHECK(event.body_json == R"({"reason":"gone","series":1})");
  CHECK(IncidentStore(*opened).get(1).value().series.size() == 1);
  CHECK(opened->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneConnection,
                 "a database from before there were studies keeps its comparisons, and takes one") {
  constexpr std::size_t kBefore = 23;
  REQUIRE(migrate_to(embedded_migrations().first(kBefore)));
  connect()->sqlite.exec(
      "INSERT INTO build (id, origin, name, content_hash, folder, state) VALUES "
      "(1, 'nightly', 'n1', 'h1', '/n1', 'ready'), (2, 'nightly', 'n2', 'h2', '/n2', 'ready');"
      "INSERT INTO comparison (id, purpose, candidate_id, baseline_id, repetition, "
      "opens_incidents, state, plan_json, reason, created_at, ended_at, confidence) VALUES "
      "(7, 'nightly', 2, 1, 0, 1, 'reported', '{}', 'why', 5, 6, 0.99), "
      "(9, 'pull_request', 2, 1, 0, 0, 'discovered', '{}', '', 7, NULL, NULL);");
  const auto opened = Database::open({path, "", false}).value();
  ComparisonStore comparisons(*opened);
  const auto kept = comparisons.get(7).value();
  CHECK(kept.reason == "why");
  CHECK(kept.confidence == 0.99);
  CHECK(kept.opens_incidents);
  CHECK(comparisons.unfinished().value().size() == 1);
  const auto newest = EventStore(*opened).after(0, 100).value().size();
  const auto study =
      StudyStore(*opened).open(2, "{}", {.baseline = "threads=1", .candidate = "threads=2"}, 8);
  REQUIRE(study);
  // The triggers of the table were made again with it.
  CHECK(EventStore(*opened).after(0, 100).value().size() == newest + 1);
  CHECK(opened->check_invariants().value().empty());
}

TEST_CASE_METHOD(
    OneConnection,
    "a database whose verdicts lay by comparison keeps them, its results and its runs") {
  constexpr std::size_t kBefore = 26;
  REQUIRE(migrate_to(embedded_migrations().first(kBefore)));
  connect()->sqlite.exec(
      "INSERT INTO build (id, origin, name, content_hash, folder, state) VALUES "
      "(1, 'nightly', 'n1', 'h1', '/n1', 'ready'), (2, 'nightly', 'n2', 'h2', '/n2', 'ready');"
      "INSERT INTO comparison (id, purpose, candidate_id, baseline_id, repetition, "
      "opens_incidents, state, created_at) VALUES (7, 'nightly', 2, 1, 0, 1, 'ready', 5);"
      "INSERT INTO benchmark VALUES (1, 'vgg16', 'cpu-train', 'default'), "
      "(2, 'dlrm', 'cpu-train', 'default');"
      "INSERT INTO verdict VALUES "
      "(4, 7, 2, 'time', 'regressed', 1.2, 1.1, 1.3, 100, 120, 0.01, 0.02, 24, 'confirmed'), "
      "(5, 7, 1, 'cpu_peak', 'unchanged', 1, 1, 1, 64, 64, 0, 0, 4, '');"
      "INSERT INTO environment (id, digest) VALUES (1, '" +
      digest::sha256_hex("") +
      "');"
      "INSERT INTO attempt VALUES "
      "(1, 't1', 1, 7, NULL, 'A', 1, 2, 'timing', 'done', '', '', 10, 20, 'n0'), "
      "(2, 't2', 1, 7, NULL, 'B', 2, 2, 'timing', 'issued', '', '', 30, NULL, 'n0');"
      "INSERT INTO result VALUES (1, 't1', 'ok', '', 1, 3, NULL, NULL, NULL, NULL, NULL, 'no "
      "GPU')");
  const auto opened = Database::open({path, "", false}).value();
  const auto verdicts = verdicts_of(*opened, 7).value();
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].series.benchmark.workload == "vgg16");
  CHECK(verdicts[0].baseline_value == 64);
  CHECK(verdicts[1].verdict == Verdict::regressed);
  CHECK(verdicts[1].interval_high == 1.3);
  CHECK(verdicts[1].runs == 24);
  CHECK(verdicts[1].reason == "confirmed");
  const auto result = RunStore(*opened).result_of(1).value();
  CHECK(result.attempt == "t1");
  CHECK(result.iterations_per_sample == 3);
  CHECK(result.breakdown_reason == "no GPU");
  // The trigger of the table was made again with it, and a slot is still filled once.
  connect()->sqlite.exec("UPDATE attempt SET state = 'abandoned', ended_at = 45 WHERE id = 2");
  CHECK(connect()->sqlite.execAndGet("SELECT milliseconds FROM node_time").getInt64() == 15);
  CHECK_THROWS(connect()->sqlite.exec(
      "INSERT INTO attempt VALUES "
      "(3, 't3', 1, 7, NULL, 'A', 1, 2, 'timing', 'issued', '', '', 50, NULL, NULL)"));
  CHECK_THROWS(
      connect()->sqlite.exec("PRAGMA foreign_keys = ON;"
                             "INSERT INTO result (attempt_id, status, environment_id, "
                             "iterations_per_sample) VALUES (9, 'ok', 1, 1)"));
  CHECK(opened->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneConnection, "runs of an older schema are counted for the machine they ran on") {
  connect()->sqlite.exec(test::content_of(fs::path(TORCHWATCH_BINARY_DIR) /
                                          "tests/recordings/database-of-286d2e2.sql"));
  const auto opened = Database::open({path, "", false}).value();
  const auto machines = RunReader(*opened).machines().value();
  REQUIRE(machines.size() == 1);
  CHECK(machines[0].runs == connect()->sqlite.execAndGet("SELECT count(*) FROM result").getInt64());
  CHECK(machines[0].first_run_at <= machines[0].last_run_at);
  REQUIRE(machines[0].machine_class);
  const auto name_before = machines[0].machine_class->name;
  // A run of today with these facts is one on the same machine.
  auto facts = machines[0].facts;
  facts["build.version"] = "2.99";
  const auto same = write(*opened, [&](Connection& connection) -> Result<Id> {
    return environment_id(connection, facts);
  });
  REQUIRE(same);
  CHECK(RunReader(*opened).machines().value().size() == 1);
  // A new kernel makes another machine of the same class.
  facts["kernel"] = "of tomorrow";
  REQUIRE(write(*opened, [&](Connection& connection) -> Result<Id> {
    return environment_id(connection, facts);
  }));
  const auto grown = RunReader(*opened).machines().value();
  REQUIRE(grown.size() == 2);
  CHECK(grown[0].machine_class->id == grown[1].machine_class->id);
  CHECK(grown[0].machine_class->name == name_before);
}
