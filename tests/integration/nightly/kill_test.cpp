// Kills a whole night at its failpoints and at writes of its database, lets the next process go on,
// and compares what is left with an uncut night: nothing lost, nothing counted twice, one issue for
// each incident.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/doors/process.hpp"

using namespace torchwatch;

namespace {

/// Names that a night without kits, wheels and a tracker cannot reach; other tests kill there.
const std::map<std::string_view, std::string_view> kReachedElsewhere{
    {"publish.before_file_rename", "tests/integration/doors"},
    {"builds.after_kit_published", "tests/integration/builds"},
    {"channel.after_fetch_published", "tests/integration/channel"},
    {"outbox.before_post", "tests/integration/report"},
    {"outbox.after_post", "tests/integration/report"},
    {"outbox.after_sent", "tests/integration/report"}};

/// The same figures in every attempt, so that also the runs behind the verdicts are the same.
std::vector<test::ScriptedCommit> day() {
  auto commits = test::day_with_two_culprits();
  for (auto& commit : commits) {
    const auto at = commit.behaviour.find("noise 0.01");
    if (at != std::string::npos) commit.behaviour.replace(at, 10, "noise 0.01 fixed");
  }
  return commits;
}

doors::ProcessOutcome night(doors::ProcessRunner& processes, const std::filesystem::path& folder,
                            const std::string& failpoint = {}, const std::string& fault = {}) {
  doors::ProcessSpec spec;
  spec.program = SCRIPTED_NIGHT;
  spec.arguments = {folder.string()};
  spec.environment = {{"PATH", std::getenv("PATH")}};
  if (!failpoint.empty()) spec.environment["TORCHWATCH_FAILPOINT"] = failpoint;
  if (!fault.empty()) spec.environment["TORCHWATCH_FAULT"] = fault;
  spec.working_folder = folder;
  spec.time_limit = std::chrono::minutes(3);
  spec.output_limit_bytes = 1U << 20U;
  return processes.run(spec);
}

std::string uncut_state(doors::ProcessRunner& processes) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), day());
  const auto outcome = night(processes, folder.path());
  INFO(outcome.output);
  REQUIRE(doors::succeeded(outcome));
  return outcome.output;
}

}  // namespace

TEST_CASE("a night killed at any failpoint and begun again ends as one that was not") {
  const auto processes = doors::make_process_runner("kill-test");
  const auto expected = uncut_state(*processes);
  for (const auto name : doors::failpoint_names()) {
    if (kReachedElsewhere.contains(name)) continue;
    bool reached = false;
    for (const auto* times : {"1", "3"}) {
      const test::TemporaryFolder folder;
      const test::ScriptedDay made(folder.path(), day());
      const auto failpoint = std::string(name) + ":" + times + ":kill";
      INFO(failpoint);
      const auto killed = night(*processes, folder.path(), failpoint);
      if (doors::succeeded(killed)) {
        REQUIRE(killed.output == expected);  // reached less often than that
        continue;
      }
      INFO(killed.output);
      REQUIRE(std::holds_alternative<doors::Signalled>(killed.end));
      reached = true;
      const auto after = night(*processes, folder.path());
      REQUIRE(after.output == expected);
      auto service = test::ScriptedService::open(made.config());
      REQUIRE(service);
      REQUIRE((*service)->workshop().database.check_invariants().value().empty());
    }
    REQUIRE(reached);
  }
}

namespace {

/// How many operations on the database's files a whole night has, each of which may fail.
int operations_of_a_night(doors::ProcessRunner& processes) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), day());
  const auto outcome = night(processes, folder.path(), {}, "none");
  const auto at = outcome.output.rfind("operations ");
  INFO(outcome.output);
  REQUIRE(at != std::string::npos);
  return std::stoi(outcome.output.substr(at + 11));
}

void survive(doors::ProcessRunner& processes, const std::string& fault,
             const std::string& expected) {
  const test::TemporaryFolder folder;
  const test::ScriptedDay made(folder.path(), day());
  INFO(fault);
  const auto struck = night(processes, folder.path(), {}, fault);
  const auto after = night(processes, folder.path());
  INFO(struck.output << "\n" << after.output);
  REQUIRE(after.output == expected);
  auto service = test::ScriptedService::open(made.config());
  REQUIRE(service);
  REQUIRE((*service)->workshop().database.check_invariants().value().empty());
}

}  // namespace

// Some points of each fault in turn; TORCHWATCH_ALL_POINTS=1 takes every one (hours).
TEST_CASE("a night whose database fails at any write ends, begun again, as one that did not") {
  const auto processes = doors::make_process_runner("kill-test-writes");
  const auto expected = uncut_state(*processes);
  const int operations = operations_of_a_night(*processes);
  REQUIRE(operations > 100);
  const bool all = std::getenv("TORCHWATCH_ALL_POINTS") != nullptr;
  const int points = all ? operations : 20;
  const std::vector<std::string> faults{"kill:#", "torn_write:#", "power_cut:#:some:1",
                                        "disk_full:#", "io_error:#"};
  for (int point = 0; point < points; ++point) {
    for (std::size_t kind = 0; kind < faults.size(); ++kind) {
      if (!all && kind != static_cast<std::size_t>(point) % faults.size()) continue;
      auto fault = faults[kind];
      const int at = all ? point + 1 : 1 + point * (operations - 1) / (points - 1);
      survive(*processes, fault.replace(fault.find('#'), 1, std::to_string(at)), expected);
    }
  }
}
