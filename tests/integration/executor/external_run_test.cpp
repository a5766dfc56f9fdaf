// Commands of somebody's own in the place of the runner, by the real executor.
#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "opened_sandbox.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/executor/external_command.hpp"
#include "torchwatch/executor/local_executor.hpp"

using namespace torchwatch;
using Catch::Contains;
using executor::RunFailure;
namespace fs = std::filesystem;

namespace {

/// The beginning of a script that can answer: `answer SAMPLE_NS` writes a result with one sample.
constexpr const char* kAnswers = R"sh(#!/bin/sh
attempt=$(sed 's/.*"attempt":"\([^"]*\)".*/\1/' "$2")
result=$3
answer() {
  printf '{"schema":1,"attempt":"%s","status":"ok","samples_ns":[%s],"values":{"time":%s}}' \
    "$attempt" "$1" "$1" > "$result"
}
)sh";

struct Machine {
  test::TemporaryFolder folder;
  std::unique_ptr<process::ProcessRunner> processes = process::make_process_runner("external run");
  executor::LocalExecutor::Settings settings;

  Machine() { settings.grace = std::chrono::milliseconds(10); }

  /// A build whose tree says which it is.
  fs::path build(const std::string& name) const {
    folder.write("builds/" + name + "/behaviour", name);
    return folder.write("builds/" + name + "/lib/libtorch_cpu.so", "library").parent_path();
  }

  fs::path script(const std::string& text) const {
    auto file = folder.write("workload/run", text);
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  executor::RunSpec spec(std::vector<std::string> words, const std::string& of_build = "a") const {
    executor::RunSpec spec;
    spec.command = executor::ExternalCommand{.words = std::move(words), .readable = {}};
    spec.libraries = build(of_build);
    spec.request.attempt = "attempt-1";
    spec.request.benchmark = {.workload = "mine", .configuration = {}, .variant = {}};
    spec.request.metrics = {Metric::time};
    return spec;
  }

  executor::RunOutcome run(const executor::RunSpec& spec) {
    executor::LocalExecutor executor(*processes, folder.path() / "scratch", settings);
    auto outcome = executor.run(spec, {});
    if (!outcome) FAIL(outcome.error().text());
    CHECK(fs::is_empty(folder.path() / "scratch"));
    return *outcome;
  }

  RunResult result(const executor::RunSpec& spec) {
    const auto outcome = run(spec);
    if (const auto* const failure = std::get_if<RunFailure>(&outcome)) FAIL(failure->reason);
    return std::get<RunResult>(outcome);
  }

  std::string failure(const executor::RunSpec& spec) {
    const auto outcome = run(spec);
    REQUIRE(std::holds_alternative<RunFailure>(outcome));
    return std::get<RunFailure>(outcome).reason;
  }
  /// The same for a script that begins as those that answer do.
  std::string failure(const std::string& text) { return failure(spec({script(kAnswers + text)})); }
};

}  // namespace

TEST_CASE("one command measures both builds: it finds the tree of each in TORCHWATCH_TREE") {
  Machine machine;
  const auto script = machine.script(
      std::string(kAnswers) +
      "[ $(cat $TORCHWATCH_TREE/behaviour) = a ] && answer 2000000 || answer 3000000");
  CHECK(machine.result(machine.spec({script}, "a")).values.at(Metric::time) == 2'000'000);
  CHECK(machine.result(machine.spec({script}, "b")).values.at(Metric::time) == 3'000'000);
  auto copied = machine.spec({script}, "b");
  copied.fresh_copy = true;
  CHECK(machine.result(copied).values.at(Metric::time) == 3'000'000);
}

TEST_CASE("a command gets its own arguments first, and its result the facts of the machine") {
  Machine machine;
  const auto script =
      machine.script("#!/bin/sh\nshift\n" + std::string(kAnswers) + "answer 2000000");
  auto spec = machine.spec({script, "--layers=3"});
  const auto result = machine.result(spec);
  CHECK_FALSE(result.environment.facts.at("cpu_model").empty());
  CHECK_FALSE(result.environment.facts.at("kernel").empty());
}

TEST_CASE("a command that cannot be started is a failure that says what to do") {
  Machine machine;
  CHECK_THAT(machine.failure(machine.spec({"/nowhere/program"})), Contains("does not exist"));
  const auto plain = machine.folder.write("plain.py", "print()").string();
  CHECK_THAT(machine.failure(machine.spec({plain})), Contains("chmod +x"));
  const auto neither = machine.script("print()");
  CHECK_THAT(machine.failure(machine.spec({neither})), Contains("begin it with #!"));
  const auto of_python9 = machine.script("#!/nowhere/python9 -E\n");
  CHECK_THAT(machine.failure(machine.spec({of_python9})),
             Contains("needs the interpreter /nowhere/python9, which is missing"));
  const auto of_windows = machine.script("#!/bin/sh\r\nexit 0\r\n");
  CHECK_THAT(machine.failure(machine.spec({of_windows})), Contains("end with CR LF"));
  const auto of_another_machine = machine.script(
      "\x7f"
      "ELF of another machine");
  CHECK_THAT(machine.failure(machine.spec({of_another_machine})),
             Contains("is a program for another processor"));
  const auto by_env = machine.script("#!/usr/bin/env python9\n");
  CHECK_THAT(machine.failure(machine.spec({by_env})), Contains("exit status 127"));
}

TEST_CASE("a failure names the argument that is a path to nothing") {
  Machine machine;
  const auto of_nothing = machine.failure(machine.spec({"/bin/sh", "/nowhere/model.py"}));
  CHECK_THAT(of_nothing, Contains("exit status") && Contains("; argument /nowhere/model.py does "
                                                             "not exist: correct its path"));
  const auto script = machine.script(std::string(kAnswers) + "answer 2000000");
  CHECK(machine.result(machine.spec({"/bin/sh", "-c", script.string() + " \"$@\"", "/nowhere/yet"}))
            .values.contains(Metric::time));
}

TEST_CASE("a command that hangs is ended, and one that floods as well") {
  Machine machine;
  auto hanging = machine.spec({machine.script("#!/bin/sh\nsleep 1000\n")});
  hanging.request.limits.time_ms = 10;
  CHECK_THAT(machine.failure(hanging), Contains("time limit"));
  CHECK_THAT(machine.failure(machine.spec({machine.script("#!/bin/sh\nyes\n")})),
             Contains("output limit"));
}

TEST_CASE("what a command leaves running ends with it, and its result counts") {
  Machine machine;
  const auto written = machine.folder.path() / "pid";
  const auto script = machine.script(std::string(kAnswers) + "setsid sleep 1000 & echo $! > " +
                                     written.string() + "\nanswer 2000000");
  CHECK(machine.result(machine.spec({script})).status == RunStatus::ok);
  pid_t left = 0;
  std::ifstream(written) >> left;
  REQUIRE(left > 0);
  CHECK(kill(left, 0) != 0);
}

TEST_CASE("a command that forks without restraint ends with all that it made") {
  Machine machine;
  constexpr int kForks = 200;
  const auto written = machine.folder.path() / "pids";
  const auto script = machine.script(
      std::string(kAnswers) + "for i in $(seq " + std::to_string(kForks) +
      "); do setsid sleep 1000 & echo $! >> " + written.string() + "; done\nanswer 2000000");
  CHECK(machine.result(machine.spec({script})).status == RunStatus::ok);
  std::ifstream pids(written);
  int count = 0;
  for (pid_t left = 0; pids >> left; ++count) CHECK(kill(left, 0) != 0);
  CHECK(count == kForks);
}

TEST_CASE("a command finds the system's programs by PATH") {
  Machine machine;
  const auto script = machine.script(
      std::string(kAnswers) +
      "/usr/bin/env | grep -qx 'PATH=/usr/local/bin:/usr/bin:/bin' && answer 2000000");
  CHECK(machine.result(machine.spec({script})).status == RunStatus::ok);
}

TEST_CASE("each invalid answer is a failure with its reason") {
  Machine machine;
  CHECK_THAT(machine.failure("exit 0"), Contains("left no result"));
  CHECK_THAT(machine.failure("exit 3"), Contains("exit status 3"));
  CHECK_THAT(machine.failure("attempt=another; answer 2000000"), Contains("another attempt"));
  CHECK_THAT(machine.failure("answer 2000000.5"), Contains("whole number"));
  CHECK_THAT(machine.failure("answer 2000"), Contains("state nanoseconds"));
  CHECK_THAT(machine.failure("answer 3600000000000"), Contains("more than the process lived"));
  auto spec = machine.spec({machine.script(std::string(kAnswers) + "answer 2000000")});
  spec.request.metrics = {Metric::time, Metric::device_time};
  CHECK_THAT(machine.failure(spec), Contains("must state device_time"));
}

TEST_CASE("a confined command sees its build, its own files and what it may read, and no more") {
  Machine machine;
  const auto sandbox = test::opened_sandbox(*machine.processes, machine.folder.path() / "builds");
  if (!sandbox) return;
  machine.settings.sandbox = *sandbox;
  machine.build("b");
  const auto model = machine.folder.write("data/model.txt", "readable");
  const auto secret = machine.folder.write("secret.txt", "secret");
  const auto seen = [](const fs::path& path) { return "[ -e " + path.string() + " ]"; };
  const auto script = machine.script(std::string(kAnswers) + seen("$TORCHWATCH_TREE/behaviour") +
                                     " && " + seen(model) + " && ! " + seen(secret) + " && ! " +
                                     seen(machine.folder.path() / "builds/b/lib") +
                                     " && ! touch $TORCHWATCH_TREE/new && answer 2000000");
  auto spec = machine.spec({script});
  spec.command->readable = {model.parent_path()};
  CHECK(machine.result(spec).environment.facts.at("sandbox") == "bubblewrap");
  spec.fresh_copy = true;
  CHECK(machine.result(spec).status == RunStatus::ok);
}
