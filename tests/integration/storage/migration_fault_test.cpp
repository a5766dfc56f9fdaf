#include <array>
#include <catch2/catch.hpp>
#include <csignal>

#include "copies.hpp"
#include "faulty_vfs.hpp"
#include "forked_child.hpp"
#include "memory_folder.hpp"
#include "migrations.hpp"
#include "sqlite_errors.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using namespace torchwatch::test;

namespace {

constexpr std::array kMigrations{
    SqlFile{"0001_first", "CREATE TABLE a (x); INSERT INTO a VALUES (randomblob(9000));"},
    SqlFile{"0002_second",
            "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = 2 * length(x); CREATE INDEX i ON a (y);"},
    SqlFile{"0003_third", "CREATE TABLE b AS SELECT y FROM a; DROP TABLE a;"}};

std::unique_ptr<Connection> connect(const std::filesystem::path& path, const std::string& vfs) {
  auto connection = std::make_unique<Connection>(
      path, WriterLock(),
      SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0, vfs));
  connection->vfs = vfs;
  connection->sqlite.exec("PRAGMA synchronous = EXTRA; PRAGMA journal_mode = WAL;");
  return connection;
}

Status migrate_to(std::size_t version, const std::filesystem::path& path, const std::string& vfs) {
  return guarded(path, [&] {
    const auto connection = connect(path, vfs);
    return migrate(*connection, std::span(kMigrations).first(version));
  });
}

/// Returns everything in the schema, and its version.
std::string schema_of(const std::filesystem::path& path) {
  const auto connection = connect(path, "");
  SQLite::Statement statement(connection->sqlite, "SELECT group_concat(sql) FROM sqlite_schema");
  statement.executeStep();
  return std::to_string(user_version(*connection)) + statement.getColumn(0).getString();
}

std::string schema_at(std::size_t version) {
  const MemoryFolder folder;
  REQUIRE(migrate_to(version, folder.path() / "t", ""));
  return schema_of(folder.path() / "t");
}

/// Returns whether the plan's operation was reached.
bool survive(std::size_t from, const FaultPlan& plan) {
  CAPTURE(from, to_string(plan));
  const MemoryFolder folder;
  const auto path = folder.path() / "t";
  REQUIRE(migrate_to(from, path, ""));
  ForkedChild child(
      [&](int) { return migrate_to(kMigrations.size(), path, register_faulty_vfs(plan)) ? 0 : 1; });
  const bool killed = child.wait().signal == SIGKILL;
  const auto found = schema_of(path);
  bool whole = false;
  for (auto version = from; version <= kMigrations.size(); ++version) {
    whole = whole || found == schema_at(version);
  }
  REQUIRE(whole);
  REQUIRE(migrate_to(kMigrations.size(), path, ""));
  REQUIRE(schema_of(path) == schema_at(kMigrations.size()));
  if (from > 0) {
    REQUIRE(std::filesystem::exists(backup_before_migration(path, static_cast<int>(from))));
  }
  return killed;
}

}  // namespace

TEST_CASE("a migration that is killed or loses power leaves one version or the next, from each") {
  const auto plan = GENERATE(values<FaultPlan>({{Fault::kill, 0},
                                                {Fault::torn_write, 0},
                                                {Fault::power_cut, 0},
                                                {Fault::power_cut, 0, Survivors::some, 7}}));
  for (std::size_t from = 0; from < kMigrations.size(); ++from) {
    auto at = plan;
    do {
      ++at.at;
    } while (survive(from, at));
    REQUIRE(at.at > 20);
  }
}
