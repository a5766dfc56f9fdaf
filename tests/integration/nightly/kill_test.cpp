// Kills a whole comparison at its failpoints and at writes of its database, lets the next process
// continue, and compares the end with that of an undisturbed comparison: nothing is lost, nothing
// is counted twice, and each incident has one issue.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "file_content.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/process/process.hpp"

using namespace torchwatch;

namespace {

/// Failpoints that a comparison without kits, wheels and a tracker cannot reach, and the test in
/// tests/integration that kills at each.
const std::map<std::string_view, std::string_view> kReachedElsewhere{
    {"publish.before_file_rename", "platform/failpoint_test.cpp"},
    {"kits.after_kit_published", "kits/kit_store_test.cpp"},
    {"channel.after_fetch_published", "channel/wheel_index_test.cpp"},
    {"outbox.before_post", "github/kill_test.cpp"},
    {"outbox.after_post", "github/kill_test.cpp"},
    {"outbox.after_sent", "github/kill_test.cpp"}};

/// The same figures in every attempt, so that also the runs behind the verdicts are the same.
std::vector<test::ScriptedCommit> day() {
  auto commits = test::day_with_two_culprits();
  for (auto& commit : commits) {
    const auto at = commit.behaviour.find("noise 0.01");
    if (at != std::string::npos) commit.behaviour.replace(at, 10, "noise 0.01 fixed");
  }
  return commits;
}

/// A comparison of one workload whose second commit keeps memory: few writes, all kinds of them.
std::vector<test::ScriptedCommit> small_day() {
  return {{"One", "noise 0.01 fixed"}, {"Two", "leak dlrm cpu-train 4096"}, {"Three", ""}};
}

process::ProcessOutcome run_comparison(process::ProcessRunner& processes,
                                       const std::filesystem::path& folder,
                                       const std::string& failpoint = {},
                                       const std::string& fault = {},
                                       const std::string& workload = {}) {
  process::ProcessSpec spec;
  spec.program = SCRIPTED_COMPARISON;
  spec.arguments = {folder.string()};
  if (!workload.empty()) spec.arguments.push_back(workload);
  spec.environment = {{"PATH", std::getenv("PATH")}};
  if (!failpoint.empty()) spec.environment["TORCHWATCH_FAILPOINT"] = failpoint;
  if (!fault.empty()) spec.environment["TORCHWATCH_FAULT"] = fault;
  spec.working_folder = folder;
  spec.time_limit = std::chrono::minutes(3);
  spec.output_limit_bytes = 1U << 20U;
  return processes.run(spec);
}

std::string uncut_state(process::ProcessRunner& processes) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), day());
  const auto outcome = run_comparison(processes, folder.path());
  INFO(outcome.output);
  REQUIRE(process::succeeded(outcome));
  return outcome.output;
}

}  // namespace

TEST_CASE("a failpoint that no comparison here reaches is named by the test that does") {
  const auto integration = std::filesystem::path(TORCHWATCH_SOURCE_DIR) / "tests/integration";
  const auto names = platform::failpoint_names();
  for (const auto& [name, file] : kReachedElsewhere) {
    CAPTURE(name, file);
    CHECK(std::ranges::find(names, name) != names.end());
    CHECK(test::content_of(integration / file).find(name) != std::string::npos);
  }
}

TEST_CASE("a comparison killed at any failpoint and resumed ends like an undisturbed one") {
  const auto processes = process::make_process_runner("kill-test");
  const auto expected = uncut_state(*processes);
  for (const auto name : platform::failpoint_names()) {
    if (kReachedElsewhere.contains(name)) continue;
    bool reached = false;
    for (const auto* times : {"1", "3"}) {
      const test::TemporaryFolder folder;
      const test::ScriptedDay made(folder.path(), day());
      const auto failpoint = std::string(name) + ":" + times + ":kill";
      INFO(failpoint);
      const auto killed = run_comparison(*processes, folder.path(), failpoint);
      if (process::succeeded(killed)) {
        REQUIRE(killed.output == expected);  // reached less often than that
        continue;
      }
      INFO(killed.output);
      REQUIRE(std::holds_alternative<process::Signalled>(killed.end));
      reached = true;
      const auto after = run_comparison(*processes, folder.path());
      REQUIRE(after.output == expected);
      auto service = test::ScriptedService::open(made.config());
      REQUIRE(service);
      REQUIRE((*service)->services().database.check_invariants().value().empty());
    }
    REQUIRE(reached);
  }
}

namespace {

/// Returns the number of operations on the database's files in a whole comparison.
int operations_of_a_comparison(process::ProcessRunner& processes) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), day());
  const auto outcome = run_comparison(processes, folder.path(), {}, "none");
  const auto at = outcome.output.rfind("operations ");
  INFO(outcome.output);
  REQUIRE(at != std::string::npos);
  return std::stoi(outcome.output.substr(at + 11));
}

void survive(process::ProcessRunner& processes, const std::string& fault,
             const std::string& expected) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), day());
  INFO(fault);
  const auto struck = run_comparison(processes, folder.path(), {}, fault);
  const auto after = run_comparison(processes, folder.path());
  INFO(struck.output << "\n" << after.output);
  REQUIRE(after.output == expected);
  auto service = test::ScriptedService::open(made.config());
  REQUIRE(service);
  REQUIRE((*service)->services().database.check_invariants().value().empty());
}

}  // namespace

TEST_CASE("a comparison resumed after any write failed ends like an undisturbed one") {
  const auto processes = process::make_process_runner("kill-test-writes");
  const auto expected = uncut_state(*processes);
  const int operations = operations_of_a_comparison(*processes);
  REQUIRE(operations > 100);
  constexpr int kPoints = 20;
  const std::vector<std::string> faults{"kill:#", "torn_write:#", "power_cut:#:some:1",
                                        "disk_full:#", "io_error:#"};
  for (int point = 0; point < kPoints; ++point) {
    auto fault = faults[static_cast<std::size_t>(point) % faults.size()];
    const int at = 1 + point * (operations - 1) / (kPoints - 1);
    survive(*processes, fault.replace(fault.find('#'), 1, std::to_string(at)), expected);
  }
}

namespace {

constexpr const char* kWorkload = "dlrm";

/// Kills a small comparison at that operation on the database and lets the next process continue.
/// Returns what differs from an undisturbed comparison, or an empty string.
std::string kill_small_comparison(process::ProcessRunner& processes, int at,
                                  const std::string& expected) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), small_day());
  const auto struck =
      run_comparison(processes, folder.path(), {}, "kill:" + std::to_string(at), kWorkload);
  const std::string where = "killed at operation " + std::to_string(at) + ": ";
  if (!std::holds_alternative<process::Signalled>(struck.end)) return where + "it was not";
  const auto after = run_comparison(processes, folder.path(), {}, {}, kWorkload);
  if (after.output != expected) return where + struck.output + after.output;
  auto service = test::ScriptedService::open(made.config());
  if (!service) return where + service.error().text();
  const auto broken = (*service)->services().database.check_invariants();
  return broken && broken->empty() ? "" : where + "the database's invariants do not hold";
}

}  // namespace

// Every 50th operation; TORCHWATCH_ALL_POINTS=1 takes every one (minutes).
TEST_CASE("a small comparison killed at any write and resumed ends like an undisturbed one") {
  const auto processes = process::make_process_runner("kill-test-small");
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), small_day());
  const auto uncut = run_comparison(*processes, folder.path(), {}, "none", kWorkload);
  const auto counted = uncut.output.rfind("operations ");
  INFO(uncut.output);
  REQUIRE(counted != std::string::npos);
  const int operations = std::stoi(uncut.output.substr(counted + 11));
  const auto expected = uncut.output.substr(0, counted);
  REQUIRE(expected.find("incident leak-") != std::string::npos);

  const int stride = std::getenv("TORCHWATCH_ALL_POINTS") != nullptr ? 1 : 50;
  std::atomic<int> next{1};
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto work = [&] {
    for (int at = next.fetch_add(stride); at <= operations; at = next.fetch_add(stride)) {
      auto failure = kill_small_comparison(*processes, at, expected);
      if (failure.empty()) continue;
      const std::lock_guard lock(mutex);
      failures.push_back(std::move(failure));
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      workers.emplace_back(work);
    }
  }
  CHECK(failures == std::vector<std::string>{});
}
