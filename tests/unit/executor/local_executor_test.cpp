#include "torchwatch/executor/local_executor.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "executor_fixture.hpp"
#include "torchwatch/executor/library_placement.hpp"
#include "torchwatch/platform/core_affinity.hpp"

using namespace torchwatch;
using executor::LocalExecutor;
namespace fs = std::filesystem;

namespace {

std::size_t size_of(const process::ProcessSpec& spec) {
  std::size_t size = spec.program.string().size();
  for (const auto& argument : spec.arguments) size += argument.size() + 1;
  for (const auto& [name, value] : spec.environment) size += name.size() + value.size() + 2;
  return size;
}

}  // namespace

TEST_CASE("every run has arguments and environment of the same size, whatever the build's path") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes(test::writes(""));
  LocalExecutor executor(processes, fixture.scratch, {});
  for (const char* const build : {"a", "a-build-with-a-much-longer-name"}) {
    REQUIRE(executor.run(fixture.spec("attempt0", build), {}));
  }
  const auto specs = processes.specs();
  REQUIRE(specs.size() == 2);
  CHECK(size_of(specs[0]) == size_of(specs[1]));
}

TEST_CASE("a run sees its libraries, thread counts and the settings' variables, and its limits") {
  const test::ExecutorFixture fixture;
  fs::path libraries;
  test::FakeProcessRunner processes([&](const process::ProcessSpec& spec, std::stop_token) {
    libraries = fs::canonical(spec.environment.at("LD_LIBRARY_PATH"));
    return test::ended(process::Exited{0});
  });
  LocalExecutor::Settings settings;
  settings.environment = {{"CUDA_VISIBLE_DEVICES", "0"}};
  settings.threads = 3;
  settings.grace = std::chrono::seconds(7);
  LocalExecutor executor(processes, fixture.scratch, settings);
  auto run = fixture.spec("t1");
  run.request.limits = {.time_ms = 2000, .memory_bytes = 12345};
  REQUIRE(executor.run(run, {}));
  const auto spec = processes.specs().at(0);
  CHECK(libraries == run.libraries);
  CHECK(spec.environment.at("OMP_NUM_THREADS") == "3");
  CHECK(spec.environment.at("LC_ALL") == "C");
  CHECK(spec.environment.at("CUDA_VISIBLE_DEVICES") == "0");
  CHECK(spec.time_limit == std::chrono::milliseconds(9000));
  CHECK(spec.memory_limit_bytes == 12345);
  CHECK(spec.label == "t1");
}

TEST_CASE("the variant's number of threads comes before the settings'") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes;
  LocalExecutor executor(processes, fixture.scratch, {});
  auto run = fixture.spec("t1");
  run.request.benchmark.variant.threads = 5;
  REQUIRE(executor.run(run, {}));
  CHECK(processes.specs().at(0).environment.at("OMP_NUM_THREADS") == "5");
}

TEST_CASE("several threads on a CPU are bound to cores, where the settings ask for it") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes;
  LocalExecutor::Settings settings;
  settings.bind_to_cores = true;
  settings.threads = 2;
  LocalExecutor executor(processes, fixture.scratch, settings);
  auto one_thread = fixture.spec("t1");
  one_thread.request.benchmark.variant.threads = 1;
  auto on_device = fixture.spec("t2");
  on_device.request.benchmark.configuration.device = Device::cuda;
  for (const auto& run : {fixture.spec("t0"), one_thread, on_device}) {
    REQUIRE(executor.run(run, {}));
  }
  settings.bind_to_cores = false;
  LocalExecutor unbound(processes, fixture.scratch, settings);
  REQUIRE(unbound.run(fixture.spec("t3"), {}));
  const auto specs = processes.specs();
  CHECK(specs.at(0).environment.at("OMP_PROC_BIND") == "close");
  CHECK(specs.at(0).environment.at("OMP_PLACES") == "cores");
  for (std::size_t i = 1; i < specs.size(); ++i) {
    CHECK_FALSE(specs[i].environment.contains("OMP_PROC_BIND"));
    CHECK_FALSE(specs[i].environment.contains("OMP_PLACES"));
  }
}

TEST_CASE("a timed run of one thread stays on the highest core from its start") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes;
  LocalExecutor::Settings settings;
  settings.bind_to_cores = true;
  LocalExecutor executor(processes, fixture.scratch, settings);
  const auto timed = fixture.spec("t0");
  auto unpinned = fixture.spec("t1");
  unpinned.request.pin_to_core = false;
  auto two_threads = fixture.spec("t2");
  two_threads.request.benchmark.variant.threads = 2;
  auto memory = fixture.spec("t3");
  memory.request.pass = Pass::memory;
  for (const auto& run : {timed, unpinned, two_threads, memory}) REQUIRE(executor.run(run, {}));
  const auto specs = processes.specs();
  CHECK(specs.at(0).cpus == std::vector<int>{platform::highest_core()});
  for (std::size_t i = 1; i < specs.size(); ++i) CHECK(specs[i].cpus.empty());
}

TEST_CASE("an attempt id that could name another folder is refused") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes;
  LocalExecutor executor(processes, fixture.scratch, {});
  for (const char* const attempt : {"", "..", "a/b", "a b", "a\nb"}) {
    const auto outcome = executor.run(fixture.spec(attempt), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::invalid);
  }
}

TEST_CASE("nothing is accepted for a runner or libraries that are not there") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes;
  LocalExecutor executor(processes, fixture.scratch, {});
  auto run = fixture.spec("t1");
  run.runner = fixture.folder.path() / "missing";
  CHECK(executor.run(run, {}).error().code == ErrorCode::unavailable);
  run = fixture.spec("t1");
  run.libraries = fixture.folder.path() / "missing";
  CHECK(executor.run(run, {}).error().code == ErrorCode::unavailable);
}

TEST_CASE("a run's scratch folder is gone after it, however it ended") {
  const test::ExecutorFixture fixture;
  for (const process::ProcessEnd& end :
       {process::ProcessEnd{process::Exited{0}}, process::ProcessEnd{process::Signalled{11}},
        process::ProcessEnd{process::SpawnFailed{"x"}}}) {
    test::FakeProcessRunner processes(test::writes("{", end));
    LocalExecutor executor(processes, fixture.scratch, {});
    static_cast<void>(executor.run(fixture.spec("t1"), {}));
    CHECK(fs::is_empty(fixture.scratch));
  }
}

TEST_CASE("what a killed daemon left in the scratch folder is swept, and nothing else") {
  const test::ExecutorFixture fixture;
  fixture.folder.write("scratch/attempt-1/REQUEST.json", "");
  fixture.folder.write("scratch/placed-1/build/lib/libtorch_cpu.so", "");
  fixture.folder.write("scratch/other/file", "");
  test::FakeProcessRunner processes;
  LocalExecutor executor(processes, fixture.scratch, {});
  REQUIRE(executor.sweep());
  CHECK(std::distance(fs::directory_iterator(fixture.scratch), {}) == 1);
  CHECK(fs::exists(fixture.scratch / "other" / "file"));
}

TEST_CASE("runs of several callers never overlap") {
  const test::ExecutorFixture fixture;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  test::FakeProcessRunner processes([&](const process::ProcessSpec&, std::stop_token) {
    most = std::max<int>(most, ++running);
    std::this_thread::yield();
    --running;
    return test::ended(process::Exited{0});
  });
  LocalExecutor executor(processes, fixture.scratch, {});
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 8; ++i) {
    callers.push_back(
        std::async(std::launch::async, [&executor, spec = fixture.spec("t" + std::to_string(i))] {
          static_cast<void>(executor.run(spec, {}));
        }));
  }
  for (auto& caller : callers) caller.get();
  CHECK(most == 1);
  CHECK(processes.specs().size() == 8);
}

TEST_CASE("a run cancelled before it began never starts") {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes;
  LocalExecutor executor(processes, fixture.scratch, {});
  std::stop_source stop;
  stop.request_stop();
  const auto outcome = executor.run(fixture.spec("t1"), stop.get_token());
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::cancelled);
  CHECK(processes.specs().empty());
}

TEST_CASE("the stop request reaches the process") {
  const test::ExecutorFixture fixture;
  std::stop_source source;
  test::FakeProcessRunner processes([&source](const process::ProcessSpec&, std::stop_token stop) {
    source.request_stop();
    return test::ended(stop.stop_requested() ? process::ProcessEnd{process::Cancelled{}}
                                             : process::ProcessEnd{process::Exited{0}});
  });
  LocalExecutor executor(processes, fixture.scratch, {});
  const auto outcome = executor.run(fixture.spec("t1"), source.get_token());
  CHECK(outcome.error().code == ErrorCode::cancelled);
}

TEST_CASE("a run that asks for it gets a fresh copy of its libraries") {
  const test::ExecutorFixture fixture;
  fs::path libraries;
  test::FakeProcessRunner processes([&](const process::ProcessSpec& spec, std::stop_token) {
    libraries = fs::canonical(spec.environment.at("LD_LIBRARY_PATH"));
    return test::ended(process::Exited{0});
  });
  LocalExecutor executor(processes, fixture.scratch, {});
  auto run = fixture.spec("t1");
  run.fresh_copy = true;
  REQUIRE(executor.run(run, {}));
  CHECK(libraries.string().starts_with((fixture.scratch / executor::kPlacedPrefix).string()));
  CHECK_FALSE(fs::exists(libraries));
}

TEST_CASE("the GPUs that this process may use are those that its runs see") {
  REQUIRE(setenv("CUDA_VISIBLE_DEVICES", "1", 1) == 0);
  const auto given = executor::device_environment();
  unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(given == std::map<std::string, std::string>{{"CUDA_VISIBLE_DEVICES", "1"}});
  CHECK(executor::device_environment().empty());
}
