#include <catch2/catch.hpp>

#include "no_threads.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/executor/library_placement.hpp"
#include "torchwatch/executor/local_executor.hpp"

using namespace torchwatch;
using executor::RunFailure;
namespace fs = std::filesystem;

namespace {

/// A fake build and an executor on this machine's real processes.
struct Machine {
  test::TemporaryFolder folder;
  std::unique_ptr<process::ProcessRunner> processes = process::make_process_runner("executor test");
  executor::LocalExecutor executor{*processes, folder.path() / "scratch", {}};

  executor::RunSpec spec(const std::string& behaviour) const {
    executor::RunSpec spec;
    spec.runner = TORCHWATCH_SCRIPTED_RUNNER;
    spec.libraries = folder.write("build/lib/libtorch_cpu.so", "library").parent_path();
    folder.write("build/lib/behaviour", behaviour);
    spec.request.attempt = "attempt1";
    spec.request.benchmark = {.workload = "resnet18", .configuration = {}, .variant = {}};
    return spec;
  }

  executor::RunOutcome run(const executor::RunSpec& spec) {
    auto outcome = executor.run(spec, {});
    INFO((outcome ? "" : outcome.error().message));
    REQUIRE(outcome);
    return *outcome;
  }

  RunResult result(const executor::RunSpec& spec) {
    const auto outcome = run(spec);
    if (const auto* const failure = std::get_if<RunFailure>(&outcome)) FAIL(failure->reason);
    return std::get<RunResult>(outcome);
  }

  std::string failure(const std::string& behaviour) {
    auto hasty = spec(behaviour);
    const auto outcome = run(hasty);
    REQUIRE(std::holds_alternative<RunFailure>(outcome));
    CHECK(fs::is_empty(folder.path() / "scratch"));
    return std::get<RunFailure>(outcome).reason;
  }
};

bool mentions(const std::string& text, const std::string& part) {
  INFO(text);
  const bool holds = text.find(part) != std::string::npos;
  CHECK(holds);
  return holds;
}

}  // namespace

TEST_CASE("a run of a build gives its samples, and its behaviour shows in them") {
  Machine machine;
  const auto plain = machine.result(machine.spec("noise 0"));
  const auto slow = machine.result(machine.spec("noise 0\ntime resnet18 cpu-train 1.5\n"));
  CHECK(plain.samples_ns.size() == 30);
  CHECK(slow.values.at(Metric::time) ==
        Approx(1.5 * static_cast<double>(plain.values.at(Metric::time))).epsilon(1e-5));
}

TEST_CASE("the memory pass of a build gives its peak and leak") {
  Machine machine;
  auto spec = machine.spec("leak resnet18 * 4096\nheap * * 2048\nretain * * 100\n");
  spec.request.pass = Pass::memory;
  const auto result = machine.result(spec);
  CHECK(result.values.at(Metric::leak_growth) == 4096);
  CHECK(result.values.at(Metric::heap_growth) == 2048);
  CHECK(result.values.at(Metric::leak_retained) == 100);
  CHECK(result.leak->live_bytes.size() == 40);
}

TEST_CASE("the trace of a profile is kept where its request names a file, and nowhere else") {
  Machine machine;
  auto spec = machine.spec("");
  spec.request.pass = Pass::profile;
  CHECK(machine.result(spec).breakdown_reason == "no device (scripted)");
  const auto kept = machine.folder.path() / "traces" / "attempt1.json.gz";
  CHECK_FALSE(fs::exists(kept.parent_path()));
  spec.request.chrome_trace = kept;
  machine.result(spec);
  CHECK(fs::file_size(kept) > 0);
  CHECK(fs::is_empty(machine.folder.path() / "scratch"));
}

TEST_CASE("a workload that failed or is not supported is a result") {
  Machine machine;
  const auto failed = machine.result(machine.spec("failed * * expected 3 dimensions"));
  CHECK(failed.status == RunStatus::failed);
  CHECK(failed.reason == "expected 3 dimensions");
  auto cuda = machine.spec("");
  cuda.request.benchmark.configuration.device = Device::cuda;
  CHECK(machine.result(cuda).status == RunStatus::unsupported);
}

TEST_CASE("each misdeed of a runner is a recorded failure with its reason") {
  Machine machine;
  CHECK(mentions(machine.failure("crash"), "SIGSEGV"));
  CHECK(mentions(machine.failure("exit-1"), "exit status 1"));
  CHECK(mentions(machine.failure("silent"), "left no result"));
  CHECK(mentions(machine.failure("flood"), "output limit"));
  CHECK(mentions(machine.failure("lie"), "process lived"));
  CHECK(mentions(machine.failure("cut"), "damaged"));
  CHECK(mentions(machine.failure("stale"), "another attempt"));
  CHECK(mentions(machine.failure("huge"), "larger than"));
}

TEST_CASE("a runner that hangs is ended at the request's limit and the executor's grace") {
  const test::TemporaryFolder folder;
  Machine machine;
  executor::LocalExecutor::Settings settings;
  settings.grace = std::chrono::milliseconds(10);
  executor::LocalExecutor hasty(*machine.processes, folder.path(), settings);
  auto spec = machine.spec("hang");
  spec.request.limits.time_ms = 10;
  const auto outcome = hasty.run(spec, {});
  REQUIRE(outcome);
  REQUIRE(std::holds_alternative<RunFailure>(*outcome));
  CHECK(mentions(std::get<RunFailure>(*outcome).reason, "time limit"));
}

TEST_CASE("each run of an interleaved pair gives its own outcome") {
  Machine machine;
  auto first = machine.spec("noise 0");
  auto second = first;
  second.request.attempt = "attempt2";
  second.request.benchmark.workload = "dlrm";
  machine.folder.write("build/lib/behaviour", "noise 0\ncrash dlrm cpu-train\n");
  const auto outcomes = machine.executor.run_pair({first, second}, {}).value();
  CHECK(std::get<RunResult>(outcomes[0]).samples_ns.size() == 30);
  CHECK(mentions(std::get<RunFailure>(outcomes[1]).reason, "SIGSEGV"));
  CHECK(fs::is_empty(machine.folder.path() / "scratch"));
}

TEST_CASE("each run of an interleaved pair that hangs is ended at the limit") {
  const test::TemporaryFolder folder;
  Machine machine;
  executor::LocalExecutor::Settings settings;
  settings.grace = std::chrono::milliseconds(10);
  executor::LocalExecutor hasty(*machine.processes, folder.path(), settings);
  auto first = machine.spec("hang");
  first.request.limits.time_ms = 10;
  auto second = first;
  second.request.attempt = "attempt2";
  const auto outcomes = hasty.run_pair({first, second}, {}).value();
  for (const auto& outcome : outcomes) {
    CHECK(mentions(std::get<RunFailure>(outcome).reason, "time limit"));
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("where no thread can be had, an interleaved pair is put off and leaves nothing") {
  Machine machine;
  const auto first = machine.spec("noise 0\ntime * * 1\n");
  auto second = first;
  second.request.attempt = "attempt2";
  const test::NoThreads none;
  const auto outcomes = machine.executor.run_pair({first, second}, {});
  REQUIRE_FALSE(outcomes);
  CHECK(outcomes.error().code == ErrorCode::unavailable);
  CHECK(fs::is_empty(machine.folder.path() / "scratch"));
}

TEST_CASE("an interleaved pair that was cancelled before it began does not start") {
  Machine machine;
  const auto first = machine.spec("hang");
  auto second = first;
  second.request.attempt = "attempt2";
  std::stop_source stop;
  stop.request_stop();
  const auto outcomes = machine.executor.run_pair({first, second}, stop.get_token());
  REQUIRE_FALSE(outcomes);
  CHECK(outcomes.error().code == ErrorCode::cancelled);
}

TEST_CASE("a run on placed libraries behaves as one on the build's own") {
  Machine machine;
  auto spec = machine.spec("noise 0\ntime * * 2\n");
  const auto own = machine.result(spec);
  const auto placed = executor::place(spec.libraries, machine.folder.path() / "placed");
  REQUIRE(placed);
  spec.libraries = placed->folder();
  CHECK(machine.result(spec).samples_ns == own.samples_ns);
}

TEST_CASE(
    "a run and a pair that ask for fresh copies load them, and the copies are gone after it") {
  Machine machine;
  auto spec = machine.spec("noise 0\ntime * * 2\n");
  const auto own = machine.result(spec);
  spec.fresh_copy = true;
  CHECK(machine.result(spec).samples_ns == own.samples_ns);
  auto second = spec;
  second.request.attempt = "attempt2";
  REQUIRE(machine.executor.run_pair({spec, second}, {}));
  CHECK(fs::is_empty(machine.folder.path() / "scratch"));
}
