#include "torchwatch/kits/kit_store.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "fake_process_runner.hpp"
#include "kit_sources.hpp"
#include "opened_sandbox.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::kits {
namespace {

namespace fs = std::filesystem;
using test::KitSources;
using test::output_of;
using Names = std::vector<std::string>;

/// Runs the real thing and counts what it was asked to run.
class CountingRunner final : public process::ProcessRunner {
 public:
  process::ProcessOutcome run(const process::ProcessSpec& spec, std::stop_token stop) override {
    const bool is_making = spec.program == "ninja" && spec.arguments.front() != "-t";
    if (is_making && spec.arguments.back().ends_with("reached_headers.cpp.o")) ++closures;
    if (is_making && spec.arguments.back() == "torchwatch-runner") ++builds;
    return real_->run(spec, stop);
  }
  int closures = 0;
  int builds = 0;

 private:
  std::unique_ptr<process::ProcessRunner> real_ =
      process::make_process_runner("integration-kit-store-" + std::to_string(getpid()));
};

KitStore::Settings settings_of(const KitSources& sources) {
  KitStore::Settings settings;
  settings.sources = sources.sources();
  settings.folder = sources.store();
  settings.jobs = 2;
  settings.time_limit = std::chrono::seconds(100);
  return settings;
}

Kit kit_of(KitStore& store, const fs::path& tree, const Names& workloads) {
  const auto inspected = builds::inspect(tree);
  INFO((inspected ? std::string() : inspected.error().message));
  REQUIRE(inspected.has_value());
  const auto kit = store.kit_for(*inspected, workloads, {});
  INFO((kit ? std::string() : kit.error().message));
  REQUIRE(kit.has_value());
  return *kit;
}

TEST_CASE("a kit holds the workloads asked for, is compiled once and runs without help") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a tree", 7);
  const Kit kit = kit_of(store, tree, {"beta", "alpha"});
  CHECK(output_of(kit.runner, {}) == "alpha beta \n7 7\n");
  CHECK(kit.key.size() == 64);

  KitStore later(settings_of(sources), runner);
  const Kit again = kit_of(later, tree, {"alpha", "beta"});
  CHECK(again.key == kit.key);
  CHECK(again.runner == kit.runner);
  CHECK(runner.builds == 1);
  CHECK(runner.closures == 1);
  CHECK(store.workloads() == Names{"alpha", "beta"});
}

TEST_CASE("compilers in the sandbox make the kit that they make without one") {
  const KitSources sources;
  CountingRunner runner;
  auto settings = settings_of(sources);
  const auto sandbox = test::opened_sandbox(runner, sources.folder().path());
  if (!sandbox) return;
  const auto tree = sources.make_overlay("overlay", sources.make_tree("base", 7), 3);
  KitStore plain(settings, runner);
  const Kit kit = kit_of(plain, tree, {"alpha"});
  const auto output = output_of(kit.runner, {}, tree / "lib");
  fs::remove_all(sources.store());
  settings.sandbox = *sandbox;
  KitStore confined(settings, runner);
  const Kit same = kit_of(confined, tree, {"alpha"});
  CHECK(same.key == kit.key);
  CHECK(output_of(same.runner, {}, tree / "lib") == output);
}

TEST_CASE("a build whose links lead where the sandbox shows nothing waits for the configuration") {
  const KitSources sources;
  CountingRunner runner;
  auto settings = settings_of(sources);
  const auto elsewhere = sources.make_tree("base", 7);
  const auto tree = sources.make_overlay("overlay", elsewhere, 3);
  const auto sandbox = test::opened_sandbox(runner, sources.store());
  if (!sandbox) return;
  settings.sandbox = *sandbox;
  KitStore store(settings, runner);
  const auto kit = store.kit_for(builds::inspect(tree).value(), {"alpha"}, {});
  REQUIRE_FALSE(kit);
  CHECK(kit.error().code == ErrorCode::unavailable);
  CHECK_THAT(kit.error().message,
             Catch::Contains(elsewhere.string()) && Catch::Contains("[sandbox] readable"));
}

TEST_CASE("builds of one set of headers share a kit, whatever their libraries and version.h say") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto base = sources.make_tree("base", 1);
  const auto other = sources.make_tree("other", 2);
  const auto overlay = sources.make_overlay("overlay", base, 3);
  const Kit kit = kit_of(store, base, {"alpha"});
  CHECK(kit_of(store, overlay, {"alpha"}).runner == kit.runner);
  CHECK(runner.closures == 1);  // one include folder
  CHECK(kit_of(store, other, {"alpha"}).runner == kit.runner);
  CHECK(runner.closures == 2);
  CHECK(runner.builds == 1);
  CHECK(output_of(kit.runner, {}, other / "lib") == "alpha \n2 2\n");
  CHECK(output_of(kit.runner, {}, overlay / "lib") == "alpha \n1 3\n");
}

TEST_CASE("other headers, other sources and other workloads make other kits") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a", 1);
  const Kit kit = kit_of(store, tree, {"alpha"});
  CHECK(kit_of(store, tree, {"beta"}).key != kit.key);
  CHECK(kit_of(store, sources.make_tree("b", 1, "struct New {};"), {"alpha"}).key != kit.key);
  sources.folder().write("my sources/models/core/more.cpp", "void more() {}\n");
  CHECK(kit_of(store, tree, {"alpha"}).key != kit.key);
  CHECK(runner.builds == 4);
}

TEST_CASE(
    "a kit with more workloads serves for fewer, as long as headers and sources are its own") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a", 1);
  const Kit both = kit_of(store, tree, {"alpha", "beta"});
  CHECK(kit_of(store, tree, {"beta"}).runner == both.runner);
  CHECK(kit_of(store, sources.make_tree("other", 2), {"beta"}).runner == both.runner);
  CHECK(runner.builds == 1);
  CHECK(kit_of(store, sources.make_tree("b", 1, "struct New {};"), {"beta"}).key != both.key);
  sources.folder().write("my sources/models/core/more.cpp", "void more() {}\n");
  CHECK(kit_of(store, tree, {"beta"}).key != both.key);
  CHECK(runner.builds == 3);
}

TEST_CASE("a header that no source reaches makes no other kit") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a", 1);
  const Kit kit = kit_of(store, tree, {"alpha"});
  sources.folder().write("my sources/models/include/unused.hpp", "struct Unused {};\n");
  CHECK(kit_of(store, tree, {"alpha"}).key == kit.key);
  CHECK(runner.closures == 2);
  CHECK(runner.builds == 1);
}

TEST_CASE("sources that do not compile give the compiler's error, and no kit appears") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a", 1);
  const auto [text, error] = GENERATE(table<std::string, std::string>(
      {{"int f() { return undeclared; }\n", "'undeclared' was not declared"},
       {"#include \"gone.hpp\"\n", "gone.hpp: No such file"},
       {"int not_there();\nint g() { return not_there(); }\n", "undefined reference"}}));
  sources.folder().write("my sources/runner/src/bad.cpp", text);
  const auto kit = store.kit_for(*builds::inspect(tree), {"alpha"}, {});
  REQUIRE_FALSE(kit.has_value());
  CHECK(kit.error().code == ErrorCode::failed);
  INFO(kit.error().message);
  CHECK(kit.error().message.find(error) != std::string::npos);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(sources.store())) {
    left.insert(entry.path().filename());
  }
  CHECK(left == std::set<std::string>{"lock", "last-failure.log"});
  const auto log = platform::read_file(sources.store() / "last-failure.log", 1U << 20U);
  CHECK(log.value_or("").find(error) != std::string::npos);
  CHECK(kit.error().message.find("last-failure.log") != std::string::npos);
}

TEST_CASE("an unknown workload is an error before anything is compiled") {
  const KitSources sources;
  test::FakeProcessRunner nothing;
  KitStore store(settings_of(sources), nothing);
  const auto kit = store.kit_for(*builds::inspect(sources.make_tree("a", 1)), {"alphabet"}, {});
  REQUIRE_FALSE(kit.has_value());
  CHECK(kit.error().code == ErrorCode::invalid);
  CHECK(kit.error().message.find("alpha") != std::string::npos);
  CHECK(nothing.specs().empty());
}

TEST_CASE("a compiler that is stopped, hangs or is not there gives an error of that kind") {
  const KitSources sources;
  const auto tree = builds::inspect(sources.make_tree("a", 1));
  const auto error_when = [&](process::ProcessEnd end) {
    test::FakeProcessRunner runner(
        [&](const process::ProcessSpec&, std::stop_token) { return test::ended(end); });
    return KitStore(settings_of(sources), runner).kit_for(*tree, {"alpha"}, {}).error();
  };
  CHECK(error_when(process::Cancelled{}).code == ErrorCode::cancelled);
  CHECK(error_when(process::TimedOut{}).code == ErrorCode::failed);
  test::FakeProcessRunner full([](const process::ProcessSpec&, std::stop_token) {
    return test::ended(process::Exited{1}, "as: error: No space left on device");
  });
  const auto full_disk = KitStore(settings_of(sources), full).kit_for(*tree, {"alpha"}, {});
  REQUIRE_FALSE(full_disk);
  CHECK(full_disk.error().code == ErrorCode::unavailable);
  const auto missing = error_when(process::SpawnFailed{"g++: ENOENT"});
  CHECK(missing.code == ErrorCode::unavailable);
  CHECK(missing.text().find("install") != std::string::npos);
}

TEST_CASE("a kit serves for the same sources and headers wherever checkout and tree lie") {
  const KitSources here;
  const KitSources there;
  CountingRunner runner;
  KitStore store(settings_of(here), runner);
  auto moved = settings_of(there);
  moved.folder = here.store();
  KitStore later(moved, runner);
  const Kit kit = kit_of(store, here.make_tree("a", 1), {"alpha"});
  const auto tree = there.make_tree("a tree with a long name", 2);
  CHECK(kit_of(later, tree, {"alpha"}).runner == kit.runner);
  CHECK(runner.builds == 1);
}

TEST_CASE("libtorch is linked where everything it needs is present, its CPU part alone elsewhere") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a", 7);
  const auto cuda = tree / "lib/libtorch_cuda.so";
  sources.compile_library(cuda, "", {});
  sources.make_libtorch(tree, 7, {"-ltorch_cuda", "-Wl,-rpath,$ORIGIN"});
  const Kit whole = kit_of(store, tree, {"alpha"});
  CHECK(output_of(whole.runner, {}) == "alpha \n7 7\n");
  fs::remove(cuda);
  const Kit cpu_part = kit_of(store, tree, {"alpha"});
  CHECK(cpu_part.key != whole.key);
  CHECK(output_of(cpu_part.runner, {}) == "alpha \n7 -1\n");
}

TEST_CASE("a planted build's libtorch has no search path of its own and is linked all the same") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto overlay = sources.make_overlay("overlay", sources.make_tree("base", 1), 3);
  const Kit kit = kit_of(store, overlay, {"alpha"});
  CHECK(output_of(kit.runner, {}, overlay / "lib") == "alpha \n1 3\n");
}

TEST_CASE("a tree whose CPU part cannot be loaded is refused with the library's name") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = sources.make_tree("a", 1);
  sources.compile_library(tree / "lib/libcudart.so.999", "", {});
  sources.compile_library(tree / "lib/libtorch_cpu.so", "",
                          {"-Wl,--no-as-needed", tree / "lib/libcudart.so.999"});
  fs::remove(tree / "lib/libcudart.so.999");
  const auto kit = store.kit_for(*builds::inspect(tree), {"alpha"}, {});
  REQUIRE_FALSE(kit.has_value());
  CHECK(kit.error().code == ErrorCode::invalid);
  INFO(kit.error().message);
  CHECK(kit.error().message.find("libtorch_cpu.so needs libcudart.so.999") != std::string::npos);
}

TEST_CASE("a kit has the C++ ABI of its build, read from torchCheckFail alone") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto old_abi = sources.make_tree("old", 1, "", 0);
  const auto new_abi = sources.make_tree("new", 2, "", 1);
  const Kit kit = kit_of(store, old_abi, {"alpha"});
  CHECK(output_of(kit.runner, {}) == "alpha \n1 1\n");
  CHECK(kit_of(store, new_abi, {"alpha"}).key != kit.key);

  sources.compile_library(old_abi / "lib/libc10.so", "extern \"C\" void uses__cxx11() {}", {});
  const auto none = store.kit_for(*builds::inspect(old_abi), {"alpha"}, {});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == ErrorCode::invalid);
  CHECK(none.error().message.find("libc10.so") != std::string::npos);
}

TEST_CASE("two processes do not compile into one store") {
  const KitSources sources;
  CountingRunner runner;
  KitStore store(settings_of(sources), runner);
  const auto tree = builds::inspect(sources.make_tree("a", 1));
  const auto other = builds::FolderLock::acquire(sources.store());
  REQUIRE(other.has_value());
  const auto kit = store.kit_for(*tree, {"alpha"}, {});
  CHECK(kit.error().code == ErrorCode::unavailable);  // for now
}

TEST_CASE(
    "a process killed while it makes a kit leaves none, killed afterwards it leaves a whole one") {
  const KitSources sources;
  CountingRunner runner;
  const auto tree = sources.make_tree("a", 1);
  const auto make = [&](const std::string& failpoint) {
    process::ProcessSpec spec{.program = TORCHWATCH_MAKE_KIT,
                              .arguments = {sources.sources(), sources.store(), tree, "alpha"},
                              .environment = {{"PATH", "/usr/bin:/bin"},
                                              {"HOME", sources.folder().path()},
                                              {"TORCHWATCH_FAILPOINT", failpoint}},
                              .working_folder = sources.folder().path(),
                              .time_limit = std::chrono::seconds(100),
                              .output_limit_bytes = 100'000,
                              .label = {},
                              .cpus = {},
                              .on_started = {}};
    const auto outcome = runner.run(spec, {});
    const auto* const end = std::get_if<process::Signalled>(&outcome.end);
    return end != nullptr && end->signal == SIGKILL;
  };
  CHECK(make("publish.before_folder_rename:1:kill"));
  KitStore store(settings_of(sources), runner);
  CHECK(make("kits.after_kit_published:1:kill"));
  const Kit kit = kit_of(store, tree, {"alpha"});
  CHECK(runner.builds == 0);  // the killed process had published it
  CHECK(output_of(kit.runner, {}) == "alpha \n1 1\n");
}

}  // namespace
}  // namespace torchwatch::kits
