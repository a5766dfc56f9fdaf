// What is checked of a command of somebody's own, by the real executor: each check fails for a
// command that breaks the contract in that place, and holds for one that keeps it.
#include "torchwatch/conformance/verify.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/executor/local_executor.hpp"

using namespace torchwatch;
using Catch::Contains;
using conformance::Finding;
namespace fs = std::filesystem;

namespace {

const std::string kSource = TORCHWATCH_SOURCE_DIR;

std::vector<Finding> verified(const conformance::Subject& subject) {
  const test::TemporaryFolder folder;
  const auto processes = process::make_process_runner("conformance test");
  executor::LocalExecutor::Settings settings;
  settings.grace = std::chrono::milliseconds(2'000);
  executor::LocalExecutor executor(*processes, folder.path() / "scratch", settings);
  platform::SystemRandom random;
  auto findings = conformance::verify(executor, subject, random, folder.path(), {});
  if (!findings) FAIL(findings.error().text());
  return *findings;
}

/// Verifies a command on a build that has nothing in it.
std::vector<Finding> verified(std::vector<std::string> words, std::int64_t memory_limit = 0) {
  const test::TemporaryFolder folder;
  conformance::Subject subject;
  subject.command.words = std::move(words);
  subject.memory_limit_bytes = memory_limit;
  subject.libraries = folder.write("torch/lib/libtorch_cpu.so", "library").parent_path();
  subject.metrics = {Metric::time, Metric::heap_growth, Metric::output_difference};
  return verified(subject);
}

/// The folder torch of an environment with PyTorch, which TORCHWATCH_PYTHON_TREE names; empty, with
/// a warning, without one.
fs::path python_tree() {
  const char* const named = std::getenv("TORCHWATCH_PYTHON_TREE");
  if (named != nullptr) return named;
  test::say_skipped(
      "no PyTorch for Python; name the folder torch of an environment with "
      "TORCHWATCH_PYTHON_TREE");
  return {};
}

void require_all(const std::vector<Finding>& findings) {
  for (const auto& each : findings) {
    INFO(each.check << ": " << each.came);
    CHECK(each.holds);
  }
  CHECK(findings.size() >= 10);
}

/// The first block of that kind in a text, without the blanks before its lines.
std::string block_of(const std::string& text, const std::string& kind) {
  const auto begin = text.find("```" + kind + "\n") + kind.size() + 4;
  std::istringstream lines(text.substr(begin, text.find("```", begin) - begin));
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    block += (line.size() > 3 ? line.substr(3) : "") + "\n";
  }
  return block;
}

/// Verifies tests/support/careless_workload.py, which is careless in one place.
std::vector<Finding> careless(const std::string& place, std::int64_t memory_limit = 0) {
  const auto program = kSource + "/tests/support/careless_workload.py";
  return verified({"/usr/bin/python3", program, place}, memory_limit);
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
  require_all(findings);
  CHECK(findings.size() == 12);
}

TEST_CASE("each breach of the contract fails the check of its place, with what to do") {
  const std::vector<std::pair<std::string, std::string>> breaches{
      {"microseconds", "timing"}, {"enough", "enough"},           {"batches", "batches"},
      {"limit", "time limit"},    {"variant", "variant"},         {"passes", "other passes"},
      {"turns", "interleaving"},  {"memory", "memory"},           {"outputs", "outputs"},
      {"unread", "interleaving"}, {"nothing_returned", "outputs"}};
  for (const auto& [place, check] : breaches) {
    INFO(place);
    CHECK(failed(careless(place)) == std::vector{check});
  }
}

TEST_CASE("a command is verified within the limit of memory that its measurements have") {
  const auto findings = careless("nothing", 1 << 20);
  const bool is_ended = std::ranges::any_of(findings, [](const Finding& each) {
    return !each.holds && each.came.find("used more memory than its limit") != std::string::npos;
  });
  for (const auto& each : findings) UNSCOPED_INFO(each.check << ": " << each.came);
  CHECK(is_ended);
}

TEST_CASE("a command that cannot be started is asked nothing") {
  const auto findings = verified(std::vector<std::string>{"/nowhere/program"});
  REQUIRE(findings.size() == 1);
  CHECK_THAT(findings.front().came, Contains("/nowhere/program does not exist"));
}

TEST_CASE("a command that lacks one of its files fails with the key that names it") {
  const auto findings = verified(
      std::vector<std::string>{"/usr/bin/python3", "-c", "import a_module_that_is_nowhere"});
  REQUIRE(findings.size() == 2);
  CHECK_THAT(findings.back().came, Contains("No module named 'a_module_that_is_nowhere'"));
  CHECK_THAT(findings.back().remedy, Contains("name the file or its folder in `readable`"));
}

TEST_CASE("what a command names and is not there is found before it is started") {
  const auto argument = verified({"/usr/bin/env", "/nowhere/model.py"});
  REQUIRE(argument.size() == 1);
  CHECK_THAT(argument.front().came, Contains("argument /nowhere/model.py does not exist"));
  const test::TemporaryFolder folder;
  conformance::Subject subject;
  subject.command = {.words = {"/usr/bin/env"}, .readable = {"/nowhere/helper.py"}};
  subject.libraries = folder.write("torch/lib/libtorch_cpu.so", "library").parent_path();
  subject.metrics = {Metric::time};
  const auto readable = verified(subject);
  REQUIRE(readable.size() == 1);
  CHECK_THAT(readable.front().came, Contains("`readable` names /nowhere/helper.py"));
}

TEST_CASE("a command that ends before it answers is shown with what it printed last") {
  const auto found = [](const std::string& program) {
    const auto findings = verified({"/usr/bin/python3", "-c", program});
    REQUIRE(findings.size() == 2);
    return findings.back();
  };
  const auto broken = found("def f(:\n  pass");
  CHECK_THAT(broken.came, Contains("SyntaxError") && Contains("line 1"));
  CHECK_THAT(broken.remedy, Contains("correct the program"));
  const auto silent = found("pass");
  CHECK_THAT(silent.came, Contains("left no result"));
  CHECK_THAT(silent.remedy, Contains("the path in the last argument"));
  const auto talkative = found("while True: print('x' * 4000)");
  CHECK_THAT(talkative.came, Contains("output limit"));
  CHECK(talkative.came.size() < 400);
  CHECK_THAT(talkative.remedy, Contains("print less"));
}

TEST_CASE("a build without its Python part is unsupported, and the example says so") {
  const auto findings = verified({"/usr/bin/python3", kSource + "/deploy/workloads/mlp.py"});
  REQUIRE(findings.size() == 2);
  CHECK_THAT(findings.back().came, Contains("unsupported: the build has no Python part"));
}

TEST_CASE("the example in C++ conforms on a real LibTorch") {
  const fs::path libtorch = TORCHWATCH_LIBTORCH;
  if (!fs::exists(libtorch / "lib/libtorch_cpu.so")) {
    test::say_skipped("there is no LibTorch at " + libtorch.string());
    return;
  }
  const test::TemporaryFolder folder;
  const auto program = (folder.path() / "matmul").string();
  const auto compiled =
      "g++ -std=c++17 -O1 -o " + program + " " + kSource + "/deploy/workloads/matmul.cpp -ldl";
  REQUIRE(std::system(compiled.c_str()) == 0);
  conformance::Subject subject;
  subject.command.words = {program};
  subject.libraries = libtorch / "lib";
  subject.configuration.mode = Mode::infer;
  subject.metrics = {Metric::time};
  require_all(verified(subject));
}

TEST_CASE("the page's ten minutes, step by step, lead to a workload that conforms") {
  const auto tree = python_tree();
  if (tree.empty()) return;
  std::ifstream file(kSource + "/docs/external-workloads.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const auto section = page.substr(page.find("## Add your model in Python in ten minutes"));
  const test::TemporaryFolder folder;
  fs::copy(kSource + "/deploy/workloads/torchwatch_workload.py", folder.path());
  folder.write("mymodel.py", block_of(section, "python"));
  // A tree that lacks the packages is one of an environment.
  const bool has_packages = fs::exists(tree / "python");
  auto toml = block_of(has_packages ? section : section.substr(section.find("\n### ")), "toml");
  const std::string packages = "/opt/pytorch/packages";
  for (auto at = toml.find(packages); at != std::string::npos; at = toml.find(packages)) {
    toml.replace(at, packages.size(), tree.parent_path().string());
  }
  const auto config = config::load(folder.write("torchwatch.toml", toml), true);
  if (!config) FAIL(config.error().text());
  const auto& external = config->suite.externals.at(0);
  conformance::Subject subject;
  subject.name = external.name;
  subject.command = {.words = external.command, .readable = external.readable};
  subject.libraries = tree / "lib";
  subject.metrics = external.metrics;
  require_all(verified(subject));
}
