#include "faulty_vfs.hpp"

#include <SQLiteCpp/Database.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "forked_child.hpp"
#include "memory_folder.hpp"

// Tests the faults themselves with settings of SQLite whose outcome is known: where SQLite promises
// to lose nothing, nothing may be lost; where it does not, the loss must show.

using namespace torchwatch::test;

namespace {

constexpr int kCommits = 6;

struct Settings {
  std::string name;
  std::string journal_mode;
  std::string synchronous;
  bool keeps_what_it_acknowledged;
};

int commit_and_report(const std::filesystem::path& path, const Settings& settings,
                      const std::string& vfs, int report) {
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0, vfs);
  database.exec("PRAGMA synchronous = EXTRA");
  database.exec("PRAGMA journal_mode = " + settings.journal_mode);
  database.exec("PRAGMA synchronous = " + settings.synchronous);
  database.exec("CREATE TABLE t (x)");
  for (int i = 0; i < kCommits; ++i) {
    database.exec("INSERT INTO t VALUES (randomblob(3000))");
    if (::write(report, "c", 1) != 1) return 1;
  }
  return 0;
}

std::int64_t count_operations(const Settings& settings) {
  const MemoryFolder folder;
  ForkedChild child([&](int report) {
    const auto vfs = register_faulty_vfs({});
    if (commit_and_report(folder.path() / "t", settings, vfs, report) != 0) return 1;
    const auto text = std::to_string(operations_of(vfs));
    return ::write(report, text.data(), text.size()) > 0 ? 0 : 1;
  });
  std::string report;
  REQUIRE(child.wait(&report).exit_status == 0);
  return std::stoll(report.substr(kCommits));
}

struct Damage {
  int cuts_with_loss = 0;
  int corrupt = 0;
};

int rows_of(SQLite::Database& database) {
  if (!database.tableExists("t")) return 0;
  return database.execAndGet("SELECT count(*) FROM t").getInt();
}

void cut(const FaultPlan& plan, const Settings& settings, Damage& damage) {
  const MemoryFolder folder;
  const auto path = folder.path() / "t";
  ForkedChild child([&](int report) {
    return commit_and_report(path, settings, register_faulty_vfs(plan), report);
  });
  std::string report;
  REQUIRE(child.wait(&report).signal == SIGKILL);
  try {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    const std::string integrity = database.execAndGet("PRAGMA integrity_check").getString();
    if (integrity != "ok") ++damage.corrupt;
    if (rows_of(database) < static_cast<int>(report.size())) ++damage.cuts_with_loss;
  } catch (const SQLite::Exception&) {
    ++damage.corrupt;
  }
}

Damage cut_everywhere(const Settings& settings) {
  Damage damage;
  const auto operations = count_operations(settings);
  for (std::int64_t at = 1; at <= operations; ++at) {
    const auto seed = static_cast<std::uint64_t>(at);
    cut({Fault::power_cut, at, Survivors::none, 0}, settings, damage);
    cut({Fault::power_cut, at, Survivors::some, seed}, settings, damage);
    cut({Fault::power_cut, at, Survivors::some, seed + 1'000'000}, settings, damage);
  }
  return damage;
}

}  // namespace

TEST_CASE("a power cut takes what SQLite does not promise to keep, and nothing that it does") {
  const auto settings = GENERATE(values<Settings>({
      {"log, full", "WAL", "FULL", true},
      {"log, normal", "WAL", "NORMAL", false},
      {"rollback journal, extra", "DELETE", "EXTRA", true},
      {"rollback journal, full: its removal may be undone", "DELETE", "FULL", false},
  }));
  CAPTURE(settings.name);
  const auto damage = cut_everywhere(settings);
  if (settings.keeps_what_it_acknowledged) {
    REQUIRE(damage.cuts_with_loss == 0);
    REQUIRE(damage.corrupt == 0);
  } else {
    REQUIRE(damage.cuts_with_loss > 0);
  }
}

TEST_CASE("a plan is written and read back, and an unknown word is refused") {
  const FaultPlan plan{Fault::power_cut, 17, Survivors::some, 42};
  REQUIRE(to_string(plan) == "power_cut:17:some:42");
  REQUIRE(to_string(parse_fault_plan(to_string(plan))) == to_string(plan));
  REQUIRE(to_string(parse_fault_plan("kill:3")) == "kill:3:none:0");
  REQUIRE_THROWS_AS(parse_fault_plan("flood:3"), std::invalid_argument);
}
