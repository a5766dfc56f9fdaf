#include <catch2/catch.hpp>

#include "opened_sandbox.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/executor/local_executor.hpp"

using namespace torchwatch;
using executor::RunFailure;
namespace fs = std::filesystem;

namespace {

/// A fake build, and an executor that confines its runs where the machine allows it.
struct Machine {
  test::TemporaryFolder folder;
  std::unique_ptr<process::ProcessRunner> processes =
      process::make_process_runner("confined run test");
  std::optional<sandbox::Sandbox> sandbox =
      test::opened_sandbox(*processes, folder.path() / "builds");

  executor::LocalExecutor executor() {
    executor::LocalExecutor::Settings settings;
    settings.sandbox = *sandbox;
    return {*processes, folder.path() / "scratch", settings};
  }

  executor::RunSpec spec(const std::string& behaviour) const {
    executor::RunSpec spec;
    spec.runner = TORCHWATCH_SCRIPTED_RUNNER;
    spec.libraries = folder.write("builds/a/lib/libtorch_cpu.so", "library").parent_path();
    folder.write("builds/a/lib/behaviour", behaviour);
    spec.request.attempt = "attempt1";
    spec.request.benchmark = {.workload = "resnet18", .configuration = {}, .variant = {}};
    return spec;
  }

  /// A runner that is a script; returns what it printed before it failed.
  std::string printed_by(const std::string& script, Device device = Device::cpu) {
    auto run = spec("");
    run.runner = folder.write("kit/runner", "#!/bin/sh\n" + script + "\nexit 1\n");
    fs::permissions(run.runner, fs::perms::owner_all);
    run.request.benchmark.configuration.device = device;
    const auto outcome = executor().run(run, {});
    INFO((outcome ? "" : outcome.error().message));
    REQUIRE(outcome);
    REQUIRE(std::holds_alternative<RunFailure>(*outcome));
    return std::get<RunFailure>(*outcome).output;
  }
};

}  // namespace

TEST_CASE("a confined run gives its result, with the sandbox among the environment's facts") {
  Machine machine;
  if (!machine.sandbox) return;
  const auto outcome = machine.executor().run(machine.spec("noise 0"), {});
  REQUIRE(outcome);
  REQUIRE(std::holds_alternative<RunResult>(*outcome));
  CHECK(std::get<RunResult>(*outcome).environment.facts.at("sandbox") == "bubblewrap");
}

TEST_CASE("the fact says so where there is no sandbox") {
  Machine machine;
  executor::LocalExecutor plain(*machine.processes, machine.folder.path() / "scratch", {});
  const auto outcome = plain.run(machine.spec("noise 0"), {});
  REQUIRE(outcome);
  CHECK(std::get<RunResult>(*outcome).environment.facts.at("sandbox") == "none");
}

TEST_CASE("the runs of a confined interleaved pair hand over to each other") {
  Machine machine;
  if (!machine.sandbox) return;
  auto second = machine.spec("noise 0");
  second.request.attempt = "attempt2";
  auto executor = machine.executor();
  const auto outcomes = executor.run_pair({machine.spec("noise 0"), second}, {});
  REQUIRE(outcomes);
  for (const auto& outcome : *outcomes) CHECK(std::holds_alternative<RunResult>(outcome));
}

TEST_CASE("a confined run that crashes is a failure with its signal") {
  Machine machine;
  if (!machine.sandbox) return;
  const auto outcome = machine.executor().run(machine.spec("crash"), {});
  REQUIRE(outcome);
  CHECK(std::get<RunFailure>(*outcome).reason.find("SIGSEGV") != std::string::npos);
}

TEST_CASE("a confined run sees its libraries and its own folder, and no other build or run") {
  Machine machine;
  if (!machine.sandbox) return;
  const auto& folder = machine.folder;
  folder.write("builds/b/lib/libc10.so", "of another build");
  folder.write("builds/base/lib/libshared.so", "shared library");
  folder.write("state/token", "secret");
  folder.write("scratch/attempt-2/REQUEST.json", "of another run");
  folder.write("builds/a/lib/own.so", "own library");
  fs::create_symlink("../../base/lib/libshared.so", folder.path() / "builds/a/lib/libshared.so");
  fs::create_symlink(folder.path() / "state/token", folder.path() / "builds/a/lib/libtoken.so");
  const std::string root = folder.path();
  const auto printed = machine.printed_by(
      "cat \"$LD_LIBRARY_PATH/own.so\" lib/libshared.so; echo; ls; cat lib/libtoken.so; cat " +
      root + "/state/token " + root + "/builds/b/lib/libc10.so " + root +
      "/scratch/attempt-2/REQUEST.json; ls -d /dev/nvidia*; echo x > lib/new || echo refused");
  INFO(printed);
  CHECK(printed.starts_with("own libraryshared library\nREQUEST.json\nlib\nrunner\n"));
  CHECK(printed.find("secret") == std::string::npos);
  CHECK(printed.find("of another") == std::string::npos);
  CHECK(printed.find("refused") != std::string::npos);
}
