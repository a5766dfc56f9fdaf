// Tests the backend that a build's own compiler serves, with a stand-in of a few lines for it.
#include <catch2/catch.hpp>

#include "nightlies.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

namespace {

constexpr const char* kTorch =
    "from . import jit\n"
    "def set_num_threads(count): pass\n"
    "def load(path): return ()\n";
constexpr const char* kJit = "def load(path): return open(path).read()\n";
constexpr const char* kConverter =
    "class Dim: STATIC = 0\n"
    "class TS2EPConverter:\n"
    "    def __init__(self, graph, inputs): self.graph = graph\n"
    "    def convert(self): return self.graph\n";
constexpr const char* kInductor =
    "def aoti_compile_and_package(program, package_path):\n"
    "    if program == 'soft_actor_critic': raise ValueError('no lowering of aten::lstm')\n"
    "    open(package_path, 'w').write(program)\n";

void write(const fs::path& file, const char* text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void compile_everything(config::Config& config) {
  config.suite.workloads = {"dlrm", "soft_actor_critic"};
  config.suite.configurations = {{Device::cpu, Mode::infer}};
  config.suite.variants = {parse_variant("aot_inductor").value()};
}

/// Gives both nightlies a Python part.
void add_compilers(config::Config& config) {
  compile_everything(config);
  for (const char* name : {"2026-08-16", "2026-08-17"}) {
    const auto tree = config.channel.path / name;
    write(tree / "__init__.py", kTorch);
    write(tree / "jit.py", kJit);
    write(tree / "_export/__init__.py", "");
    write(tree / "_export/converter.py", kConverter);
    write(tree / "_inductor/__init__.py", kInductor);
  }
}

void break_the_newest_compiler(config::Config& config) {
  add_compilers(config);
  config.measure.interleave = true;
  write(config.channel.path / "2026-08-17/_inductor/__init__.py",
        "def aoti_compile_and_package(program, package_path): raise ValueError('no lowering')\n");
}

std::vector<storage::VerdictRow> verdicts_of(test::Nightlies& nightlies,
                                             const std::string& workload) {
  const auto row = nightlies.comparisons(storage::Purpose::nightly).front();
  auto verdicts = storage::verdicts_of(nightlies.database(), row.id).value();
  std::erase_if(verdicts, [&](const storage::VerdictRow& verdict) {
    return verdict.series.benchmark.workload != workload;
  });
  return verdicts;
}

}  // namespace

TEST_CASE("a workload is measured as its package, and what the compiler refuses is unsupported") {
  test::Nightlies nightlies(test::kQuiet, "noise 0.01\ntime dlrm * 1.5", add_compilers);
  const auto incidents = nightlies.incidents();
  REQUIRE(incidents.size() == 1);
  REQUIRE(incidents[0].series.size() == 1);
  CHECK(to_string(incidents[0].series[0].series) == "dlrm cpu-infer aot_inductor time");

  const auto refused = verdicts_of(nightlies, "soft_actor_critic");
  REQUIRE_FALSE(refused.empty());
  for (const auto& verdict : refused) {
    CHECK(verdict.verdict == Verdict::unsupported);
    CHECK(verdict.reason == "AOTInductor cannot take it: ValueError: no lowering of aten::lstm");
  }

  const auto row = nightlies.comparisons(storage::Purpose::nightly).front();
  const auto runs = storage::RunStore(nightlies.database())
                        .runs_of({storage::OwnerKind::comparison, row.id})
                        .value();
  for (const auto& run : runs) {
    if (run.status != RunStatus::ok) continue;
    INFO(to_string(run.benchmark));
    CHECK(run.values.contains(Metric::compile_time) == (run.pass == Pass::timing));
    CHECK(run.values.contains(Metric::compile_peak) == (run.pass == Pass::memory));
    if (run.pass == Pass::memory) CHECK(run.values.at(Metric::package_size) == 4);
  }
}

TEST_CASE("builds without a Python part cannot be compiled, and nothing is lost by it") {
  test::Nightlies nightlies(test::kQuiet, "noise 0.01\ntime dlrm * 1.5", compile_everything);
  CHECK(nightlies.incidents().empty());
  const auto verdicts = verdicts_of(nightlies, "dlrm");
  REQUIRE_FALSE(verdicts.empty());
  for (const auto& verdict : verdicts) {
    CHECK(verdict.verdict == Verdict::unsupported);
    CHECK_THAT(verdict.reason, Catch::Contains("the build has no Python part"));
  }
}

TEST_CASE("a workload that the newest build no longer compiles is lost, also in pairs") {
  test::Nightlies nightlies(test::kQuiet, "noise 0.01\n# another", break_the_newest_compiler);
  const auto incidents = nightlies.incidents();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].kind == IncidentKind::lost);
  bool has_time = false;
  for (const auto& row : incidents[0].series) {
    CHECK(row.series.benchmark.workload == "dlrm");
    has_time = has_time || row.series.metric == Metric::time;
  }
  CHECK(has_time);
}
