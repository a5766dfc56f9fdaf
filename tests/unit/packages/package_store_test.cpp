#include "torchwatch/packages/package_store.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>

#include "fake_process_runner.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::packages;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const kits::Kit kKit{.runner = "/opt/kits/1/torchwatch-runner", .key = "1"};

protocol::Request request_of(const std::string& workload) {
  protocol::Request request;
  request.attempt = "a1";
  request.benchmark = {workload, {Device::cpu, Mode::infer}, {.backend = Backend::aot_inductor}};
  return request;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

/// A runner and a compiler that leave what a test says. How either ends can be changed.
struct Tools {
  std::string exported = R"({"status":"ok","reason":""})";
  std::string compiled =
      R"({"status":"ok","reason":"","compile_time":41000000000,"compile_peak":900})";
  process::ProcessEnd export_end = process::Exited{0};
  process::ProcessEnd compile_end = process::Exited{0};
  fs::path linked_to;  ///< where the package is a link; empty: it is a file
  std::string printed = "Traceback\nOSError: [Errno 28] No space left on device\n";

  process::ProcessOutcome operator()(const process::ProcessSpec& spec, std::stop_token) const {
    const auto& folder = spec.working_folder;
    if (spec.program == kKit.runner) {
      write(folder / "graph.pt", "graph");
      write(folder / "export.json", exported);
      return test::ended(export_end);
    }
    write(folder / "package.json", compiled);
    if (linked_to.empty()) {
      write(folder / "package.pt2", "package");
    } else {
      fs::create_symlink(linked_to, folder / "package.pt2");
    }
    return test::ended(compile_end, printed);
  }
};

/// A variable of this process, as long as the object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

/// A store in a folder of its own, with tools that a case changes, and a build with a Python part.
struct Store {
  Store() {
    fs::create_directories(tree.folder / "optim");
    write(tree.folder / "__init__.py", "");
    write(tree.folder / "optim/adam.py", "# one");
  }

  Tools tools;
  int made = 0;
  test::FakeProcessRunner processes{
      [this](const auto& spec, std::stop_token stop) { return tools(spec, std::move(stop)); }};
  test::TemporaryFolder folder;
  builds::Tree tree{.folder = folder.path() / "torch",
                    .version = "2.13.0",
                    .embedded_commit = "33de6cd",
                    .content_hash = "c0ffee"};
  std::map<std::string, std::string> environment;
  PackageStore packages{{.program = "/opt/torchwatch/deploy/aot_inductor",
                         .folder = folder.path() / "packages",
                         .time_limit = std::chrono::seconds(900),
                         .memory_limit_bytes = std::int64_t{512} << 20},
                        processes};

  Result<Outcome> take(const protocol::Request& request = request_of("resnet18")) {
    return packages.package_for(
        {.tree = tree, .kit = kKit, .request = request, .environment = environment},
        [this] { ++made; }, {});
  }
  std::string refusal() {
    const auto outcome = take();
    if (!outcome) FAIL(outcome.error().text());
    return std::get<Refusal>(*outcome).reason;
  }
  std::size_t steps() const { return processes.specs().size(); }
  std::size_t kept() const {
    std::size_t folders = 0;
    if (!fs::exists(folder.path() / "packages")) return 0;
    for (const auto& each : fs::directory_iterator(folder.path() / "packages")) {
      if (each.is_directory()) ++folders;
    }
    return folders;
  }
};

}  // namespace

TEST_CASE("a package is made of the runner's graph by the build's compiler, and then taken") {
  Store store;
  const auto package = std::get<Package>(store.take().value());
  CHECK(fs::exists(package.file));
  CHECK(package.bytes == 7);
  CHECK(package.compile_time_ns == 41'000'000'000);
  CHECK(package.compile_peak == 900);
  std::set<fs::path> files;
  for (const auto& each : fs::directory_iterator(package.file.parent_path())) {
    files.insert(each.path().filename());
  }
  CHECK(files == std::set<fs::path>{"package.json", "package.pt2"});
  const auto specs = store.processes.specs();
  REQUIRE(specs.size() == 2);
  CHECK(specs[0].environment.at("LD_LIBRARY_PATH") == (store.tree.folder / "lib").string());
  CHECK(specs[1].environment.at("OMP_NUM_THREADS") == "1");
  CHECK(specs[1].arguments ==
        std::vector<std::string>{"-I", "-B", "/opt/torchwatch/deploy/aot_inductor",
                                 store.tree.folder.string(), specs[1].working_folder.string()});
  CHECK(std::get<Package>(store.take().value()).file == package.file);
  CHECK(store.steps() == 2);
  CHECK(store.made == 1);
}

TEST_CASE("what decides the graph makes another package, and what only a run needs does not") {
  Store store;
  REQUIRE(store.take());
  auto request = request_of("resnet18");
  request.attempt = "a2";
  request.seed = 7;
  request.pass = Pass::memory;
  request.iterations = 3;
  REQUIRE(store.take(request));
  CHECK(store.steps() == 2);
  request.benchmark.variant.threads = 1;  // what a variant without a number has here
  REQUIRE(store.take(request));
  CHECK(store.steps() == 2);
  request.benchmark.variant.threads = 2;
  REQUIRE(store.take(request));
  request.preset = Preset::paper;
  REQUIRE(store.take(request));
  REQUIRE(store.take(request_of("dlrm")));
  CHECK(store.steps() == 8);
  store.tree.content_hash = "decade";
  REQUIRE(store.take(request));
  CHECK(store.steps() == 10);
  write(store.tree.folder / "optim/adam.py", "# another one");
  REQUIRE(store.take(request));
  CHECK(store.steps() == 12);
  store.environment = {{"ATEN_CPU_CAPABILITY", "avx2"}};
  REQUIRE(store.take(request));
  CHECK(store.steps() == 14);
  CHECK(store.processes.specs().back().environment.at("ATEN_CPU_CAPABILITY") == "avx2");
}

TEST_CASE("a package of other flags of the compiler is not taken") {
  Store store;
  REQUIRE(store.take());
  CHECK(store.steps() == 2);
  const Variable flags("CXXFLAGS", "-O1 -march=x86-64-v2");
  REQUIRE(store.take());
  CHECK(store.steps() == 4);
}

TEST_CASE("what the compiler does not take is kept with the reason, and not tried again") {
  Store store;
  SECTION("the graph cannot be traced") {
    store.tools.exported = R"({"status":"unsupported","reason":"it reads values"})";
    CHECK(store.refusal() == "it reads values");
    CHECK(store.refusal() == "it reads values");
    CHECK(store.steps() == 1);
  }
  SECTION("the compiler refuses it") {
    store.tools.compiled = R"({"status":"unsupported","reason":"aten::lstm is not lowered"})";
    CHECK(store.refusal() == "aten::lstm is not lowered");
  }
  SECTION("it compiles for too long") {
    store.tools.compile_end = process::TimedOut{};
    CHECK(store.refusal() == "compile time: more than 900 s");
  }
  SECTION("it takes too much memory") {
    store.tools.compile_end = process::MemoryLimit{};
    CHECK(store.refusal() == "compiling took more than [measure] memory_limit, 512 MiB");
  }
  SECTION("the compiler crashes") {
    store.tools.compile_end = process::Signalled{SIGSEGV};
    CHECK(store.refusal() ==
          "compiling: killed by signal 11 (SIGSEGV): OSError: [Errno 28] No space left on device");
  }
  const auto steps = store.steps();
  store.refusal();
  CHECK(store.steps() == steps);
}

TEST_CASE("a fault of the machine is an error, and the next try may go well") {
  Store store;
  std::string expected;
  SECTION("the disk is full") {
    store.tools.compile_end = process::Exited{1};
    expected = "compiling: exit status 1: OSError: [Errno 28] No space left on device";
  }
  SECTION("there is no python3") {
    store.tools.compile_end = process::SpawnFailed{"python3: not found"};
    expected = "python3: not found";
  }
  const auto failed = store.take();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::unavailable);
  CHECK_THAT(failed.error().text(), Contains(expected));
  CHECK(store.kept() == 0);
  store.tools = Tools();
  CHECK(std::holds_alternative<Package>(store.take().value()));
}

TEST_CASE("what was killed is not kept, and may go well the next time") {
  Store store;
  SECTION("by somebody") {
    store.tools.compile_end = process::Signalled{SIGTERM};
  }
  SECTION("as memory ran out") {
    store.tools.export_end = process::Signalled{SIGKILL};
  }
  SECTION("as the compiler said") {
    store.tools.compile_end = process::Exited{3};
  }
  CHECK_FALSE(std::get<Failed>(store.take().value()).reason.empty());
  CHECK(store.kept() == 0);
  store.tools = Tools();
  CHECK(std::holds_alternative<Package>(store.take().value()));
}

TEST_CASE("a build without a Python part is refused until it has one") {
  Store store;
  fs::remove(store.tree.folder / "__init__.py");
  CHECK_THAT(store.refusal(), Contains("the build has no Python part"));
  CHECK(store.steps() == 0);
  write(store.tree.folder / "__init__.py", "");
  store.tools.compiled = R"({"status":"unsupported","reason":"no sympy","keep":false})";
  CHECK(store.refusal() == "no sympy");
  store.tools = Tools();
  CHECK(std::holds_alternative<Package>(store.take().value()));
}

TEST_CASE("links and nonsense that foreign code leaves are not followed and not believed") {
  Store store;
  const auto secret = store.folder.path() / "secret";
  write(secret, R"({"status":"ok","reason":""})");
  const auto answer = GENERATE(as<std::string>(), "[]", R"({"status":5})", R"({"status":"ok)",
                               R"({"status":"unsupported","reason":null})",
                               R"({"status":"unsupported","reason":""})", R"({"reason":"x"})");
  CAPTURE(answer);
  store.tools.compiled = answer;
  CHECK(store.take().error().code == ErrorCode::corrupt);
  store.tools = Tools();
  store.tools.linked_to = secret;
  CHECK(store.take().error().code == ErrorCode::corrupt);
  CHECK(store.kept() == 0);
  CHECK(fs::file_size(secret) == 27);
}

TEST_CASE("a workload that throws, or prints without end, has failed alone and is tried again") {
  Store store;
  std::string expected = "no such file";
  SECTION("the workload threw while it was traced") {
    store.tools.exported = R"({"status":"failed","reason":"the workload threw: no such file"})";
  }
  SECTION("the compiler printed without end") {
    store.tools.compile_end = process::OutputLimit{};
    expected = "compiling: ";
  }
  const auto outcome = store.take();
  REQUIRE(outcome);
  const auto& failed = std::get<Failed>(*outcome);
  CHECK_THAT(failed.reason, Contains(expected));
  CHECK_FALSE(failed.is_killed);
  CHECK(store.kept() == 0);
  store.tools = Tools();
  CHECK(std::holds_alternative<Package>(store.take().value()));
}

TEST_CASE("a damaged package is made anew") {
  Store store;
  const auto package = std::get<Package>(store.take().value());
  fs::remove(package.file);
  CHECK(fs::exists(std::get<Package>(store.take().value()).file));
  write(package.file.parent_path() / "package.json", "{");
  CHECK(fs::exists(std::get<Package>(store.take().value()).file));
}

TEST_CASE("a stop ends making a package, and nothing of it stays") {
  Store store;
  store.tools.compile_end = process::Cancelled{};
  CHECK(store.take().error().code == ErrorCode::cancelled);
  CHECK(store.kept() == 0);
}
