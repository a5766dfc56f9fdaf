// What goes wrong beside the items of work keeps no item, and nothing else, from being done.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "raw_sql.hpp"
#include "running_service.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/storage/work_store.hpp"
#include "torchwatch/traces/traces.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;
using test::is_over;
using test::RunningService;

namespace fs = std::filesystem;

namespace {

void add_nightly(const RunningService& service, const std::string& name, storage::WallMillis at) {
  service.add_ended(storage::Purpose::nightly, name, storage::ComparisonState::accepted, at);
}

bool has_problem_of(const json& health, const std::string& source) {
  const auto problems = health.value("problems", json::array());
  return std::ranges::any_of(problems, [&](const json& each) { return each["source"] == source; });
}

void wait_for_problem_of(RunningService& service, const std::string& source) {
  service.wait_until("/healthz",
                     [&](const json& health) { return has_problem_of(health, source); });
}

/// Asks for a bisection that is refused, which is an end like any other.
void require_that_requests_end(RunningService& service) {
  const auto path = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  service.ask("/api/v1/nightlies", json::object());  // wakes the daemon
  CHECK(service.wait_until(path, is_over).at("state") == "refused");
}

/// Throws wherever somebody logs, as long as it is asked to.
class ThrowingProgress final : public comparison::Progress {
 public:
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string& line) override {
    if (throws) throw std::runtime_error("a bug at " + line);
  }
  std::atomic<bool> throws = true;
};

}  // namespace

TEST_CASE("an exception costs a round of the daemon, is shown, and ends nothing") {
  RunningService service;
  ThrowingProgress progress;
  fs::remove(service.config.channel.path);  // that it cannot be listed is logged
  service.start(progress);
  service.work();
  wait_for_problem_of(service, "service");
  progress.throws = false;
  require_that_requests_end(service);
  service.wait_until("/healthz",
                     [](const json& health) { return !has_problem_of(health, "service"); });
  service.worker = {};
  CHECK(service.status);
  service.stop();
  CHECK_THAT(service.out.str(), Contains("internal error: a bug at"));
}

TEST_CASE("alarms that cannot be looked for keep no request from its end") {
  RunningService service;
  service.config.channel.poll = std::chrono::seconds(1);
  service.start();
  test::raw_sql(service.config.storage.path, "ALTER TABLE alarm RENAME TO lost_alarm");
  service.work();
  wait_for_problem_of(service, "alarms");
  require_that_requests_end(service);
  test::raw_sql(service.config.storage.path, "ALTER TABLE lost_alarm RENAME TO alarm");
  service.wait_until("/healthz",
                     [](const json& health) { return !has_problem_of(health, "alarms"); });
}

TEST_CASE("rows that cannot be thinned keep logs, traces and caches from nothing") {
  RunningService service;
  service.config.build.cache_limit_bytes = 0;
  service.config.retention.logs = std::chrono::seconds(1);
  service.config.retention.traces = std::chrono::seconds(1);
  const auto kit = service.config.build.cache / "kits" / "a";
  const auto log = service.config.build.cache / "commits" / "a.log";
  const auto trace = traces::folder_beside(service.config.storage.path) / "a.json.gz";
  for (const auto& file : {kit / "file", log, trace}) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
  }
  for (const auto& file : {log, trace}) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(100));
  }
  service.start();
  auto& services = service.application->services();
  add_nightly(service, "n1", 1000);
  add_nightly(service, "n2", services.clock.wall_now());
  test::raw_sql(service.config.storage.path,
                "CREATE TRIGGER planted BEFORE UPDATE OF samples_thinned ON comparison "
                "BEGIN SELECT RAISE(ABORT, 'planted'); END");
  service.work();
  wait_for_problem_of(service, "housekeeping");
  CHECK_FALSE(fs::exists(kit));
  CHECK_FALSE(fs::exists(log));
  CHECK_FALSE(fs::exists(trace));
  require_that_requests_end(service);
}

TEST_CASE("traces go when they are as old as [retention] traces says, whatever logs says") {
  const bool is_of_traces = GENERATE(true, false);
  RunningService service;
  auto& retention = service.config.retention;
  (is_of_traces ? retention.traces : retention.logs) = std::chrono::seconds(1);
  (is_of_traces ? retention.logs : retention.traces) = std::chrono::seconds(0);
  const auto log = service.config.build.cache / "commits" / "a.log";
  const auto trace = traces::folder_beside(service.config.storage.path) / "a.json.gz";
  for (const auto& file : {log, trace}) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(100));
  }
  service.start();
  auto& services = service.application->services();
  add_nightly(service, "n1", 1000);
  add_nightly(service, "n2", services.clock.wall_now());
  // It is a problem when all that is due has been done.
  test::raw_sql(service.config.storage.path,
                "CREATE TRIGGER planted BEFORE UPDATE OF samples_thinned ON comparison "
                "BEGIN SELECT RAISE(ABORT, 'planted'); END");
  service.work();
  wait_for_problem_of(service, "housekeeping");
  CHECK(fs::exists(trace) == !is_of_traces);
  CHECK(fs::exists(log) == is_of_traces);
}

TEST_CASE("what takes the service down three times ends with that as its reason, of every kind") {
  RunningService service;
  service.folder.write("nightlies/damaged/build-hash", std::string(40, '0'));
  service.start();
  {
    auto& database = service.application->services().database;
    storage::BuildStore builds(database);
    const auto build = builds.discover(storage::BuildOrigin::folder, "/elsewhere").value();
    REQUIRE(storage::ComparisonStore(database).open(
        {.purpose = storage::Purpose::nightly, .candidate = build.id, .baseline = build.id}, 1));
    storage::BisectionRow row;
    row.good = row.bad = "a";
    row.spec_json = to_json(bisection::BisectionSpec{});
    REQUIRE(storage::BisectionStore(database).open(row));
  }
  for (const auto& key : {storage::ItemKey{storage::ItemKind::build, "damaged"},
                          storage::ItemKey{storage::ItemKind::comparison, "1"},
                          storage::ItemKey{storage::ItemKind::bisection, "1"}}) {
    for (int times = 0; times < 3; ++times) {
      REQUIRE(storage::WorkStore(service.application->services().database).begin(key));
      service.stop();
      service.start();
    }
  }
  auto& database = service.application->services().database;
  storage::SetbackStore setbacks(database);
  const auto rows = setbacks.list().value();
  REQUIRE(rows.size() == 3);
  for (auto row : rows) {
    CHECK(row.tries == 3);
    row.not_before = 0;  // its pause is over
    REQUIRE(setbacks.record(row));
  }
  service.work();
  const std::string why = "given up after 3 tries: the service ended while it worked on this";
  const auto comparison = service.wait_until(
      "/api/v1/comparisons/1", [](const json& body) { return body.at("state") == "failed"; });
  CHECK(comparison.at("reason") == why);
  service.wait_until("/api/v1/bisections/1",
                     [](const json& body) { return body.at("state") == "ended"; });
  CHECK_THAT(storage::BisectionStore(database).get(1).value().result_json, Contains(why));
  service.wait_until("/api/v1/builds", [&](const json& body) {
    return std::ranges::any_of(body.at("builds"), [&](const json& build) {
      return build.at("state") == "rejected" && build.at("reason") == why;
    });
  });
  CHECK(setbacks.list().value().empty());
}

TEST_CASE("what ended before the service died uses up no try") {
  RunningService service;
  service.start();
  add_nightly(service, "n1", 1000);  // has its end
  REQUIRE(storage::WorkStore(service.application->services().database)
              .begin({storage::ItemKind::comparison, "1"}));
  service.stop();
  service.start();
  storage::SetbackStore setbacks(service.application->services().database);
  CHECK(setbacks.list().value().empty());
}

TEST_CASE("what gets further before the service dies uses up no try, and has all of them again") {
  RunningService service;
  service.start();
  storage::BisectionRow row;
  row.good = row.bad = "a";
  row.spec_json = to_json(bisection::BisectionSpec{});
  const auto search =
      storage::BisectionStore(service.application->services().database).open(row).value();
  const auto tries_after_death = [&](int steps) {
    auto& database = service.application->services().database;
    REQUIRE(storage::WorkStore(database).begin({storage::ItemKind::bisection, "1"}));
    for (int ordinal = 0; ordinal < steps; ++ordinal) {
      REQUIRE(storage::BisectionStore(database).append(
          search.id, {.ordinal = ordinal, .kind = "built", .body_json = "{}"}));
    }
    service.stop();
    service.start();
    const auto rows =
        storage::SetbackStore(service.application->services().database).list().value();
    return rows.empty() ? 0 : rows.front().tries;
  };
  CHECK(tries_after_death(0) == 1);
  CHECK(tries_after_death(0) == 2);
  CHECK(tries_after_death(2) == 0);
  CHECK(tries_after_death(0) == 1);
}

TEST_CASE("what the service died of is counted by whoever works on its database next") {
  RunningService service;
  service.start();
  auto& database = service.application->services().database;
  const auto build =
      storage::BuildStore(database).discover(storage::BuildOrigin::folder, "/elsewhere").value();
  REQUIRE(storage::ComparisonStore(database).open(
      {.purpose = storage::Purpose::nightly, .candidate = build.id, .baseline = build.id}, 1));
  REQUIRE(storage::WorkStore(database).begin({storage::ItemKind::comparison, "1"}));
  service.stop();
  // As a command that stores something opens it, and ends.
  REQUIRE(daemon::Application::open(service.config, service.progress, service.log));
  service.start();
  const auto rows = storage::SetbackStore(service.application->services().database).list().value();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].tries == 1);
}
