// What is checked of a command of somebody's own, by the real executor: each check fails for a
// command that breaks the contract in that place, and holds for one that keeps it.
#include "torchwatch/conformance/verify.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/executor/local_executor.hpp"

using namespace torchwatch;
using Catch::Contains;
using conformance::Finding;
namespace fs = std::filesystem;

namespace {

/// Verifies tests/support/careless_workload.py, which is careless in one place.
std::vector<Finding> verified(std::vector<std::string> words,
                              std::vector<Metric> metrics = {Metric::time, Metric::heap_growth}) {
  const test::TemporaryFolder folder;
  const auto processes = process::make_process_runner("conformance test");
  executor::LocalExecutor::Settings settings;
  settings.grace = std::chrono::milliseconds(2'000);
  executor::LocalExecutor executor(*processes, folder.path() / "scratch", settings);
  conformance::Subject subject;
  subject.command.words = std::move(words);
  subject.libraries = folder.write("torch/lib/libtorch_cpu.so", "library").parent_path();
  subject.metrics = std::move(metrics);
  platform::SystemRandom random;
  auto findings = conformance::verify(executor, subject, random, folder.path(), {});
  if (!findings) FAIL(findings.error().text());
  return *findings;
}

std::vector<Finding> careless(const std::string& place) {
  return verified(
      {"/usr/bin/python3", TORCHWATCH_SOURCE_DIR "/tests/support/careless_workload.py", place});
}

std::vector<std::string> failed(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const auto& each : findings) {
    CHECK(each.holds == each.remedy.empty());
    if (!each.holds) names.push_back(each.check);
  }
  return names;
}

}  // namespace

TEST_CASE("a command that keeps the contract passes every check") {
  const auto findings = careless("nothing");
  for (const auto& each : findings) {
    INFO(each.check << ": " << each.came);
    CHECK(each.holds);
  }
  CHECK(findings.size() == 11);
}

TEST_CASE("each breach of the contract fails the check of its place, with what to do") {
  const std::vector<std::pair<std::string, std::string>> breaches{
      {"microseconds", "timing"}, {"enough", "enough"},   {"batches", "batches"},
      {"limit", "time limit"},    {"variant", "variant"}, {"passes", "other passes"},
      {"turns", "interleaving"},  {"memory", "memory"}};
  for (const auto& [place, check] : breaches) {
    INFO(place);
    CHECK(failed(careless(place)) == std::vector{check});
  }
}

TEST_CASE("a command that cannot be started is asked nothing") {
  const auto findings = verified({"/nowhere/program"});
  REQUIRE(findings.size() == 1);
  CHECK_THAT(findings.front().came, Contains("/nowhere/program does not exist"));
}

TEST_CASE("a build without its Python part is unsupported, and the example says so") {
  const auto findings =
      verified({"/usr/bin/python3", TORCHWATCH_SOURCE_DIR "/deploy/workloads/mlp.py"});
  REQUIRE(findings.size() == 2);
  CHECK_THAT(findings.back().came, Contains("unsupported: the build has no Python part"));
}
