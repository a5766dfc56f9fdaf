// The commands over the database as a whole, in this process.
#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "file_content.hpp"
#include "printed.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z
const Benchmark kBenchmark{"resnet18", {Device::cpu, Mode::train}, {}};

Id ready_build(Database& database, const std::string& name) {
  BuildStore builds(database);
  auto row = builds.discover(BuildOrigin::nightly, name).value();
  row.content_hash = "hash of " + name;
  row.folder = "/builds/" + name;
  return builds.mark_ready(row).value().id;
}

/// A comparison with one run of two samples and one verdict.
struct StoredComparison {
  StoredComparison() : file(folder.write("torchwatch.toml", "[storage]\npath = \"db.sqlite\"\n")) {
    const auto database = open();
    const auto baseline = ready_build(*database, "n1");
    const auto candidate = ready_build(*database, "n2");
    ComparisonStore comparisons(*database);
    const auto comparison = comparisons.open({Purpose::nightly, candidate, baseline}, kNow).value();
    RunStore runs(*database);
    REQUIRE(
        runs.issue({{OwnerKind::comparison, comparison.id}, "s", candidate, kBenchmark}, "t", 1));
    RunResult result;
    result.attempt = "t";
    result.samples_ns = {10, 12};
    result.values = {{Metric::time, 11}};
    result.environment.facts = {{"cpu", "X"}};
    REQUIRE(runs.record({{"t", result}}, 2));
    VerdictRow verdict;
    verdict.comparison = comparison.id;
    verdict.series = {kBenchmark, Metric::time};
    verdict.ratio = 1.5;
    verdict.interval_high = 2;
    verdict.reason = "slow, \"very\"";
    REQUIRE(comparisons.add_verdict(verdict));
  }

  std::unique_ptr<Database> open() const {
    return Database::open({folder.path() / "db.sqlite", "", false}).value();
  }

  test::Printed run(std::vector<std::string> arguments) const {
    return test::run_command(std::move(arguments), file);
  }

  test::TemporaryFolder folder;
  std::filesystem::path file;
  std::string copy = (folder.path() / "copy.sqlite").string();
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE_METHOD(StoredComparison, "a database is backed up beside its writer, and restored") {
  {
    const auto writer = open();
    const auto backup = run({"database", "backup", copy});
    CHECK_THAT(backup.out, Contains(copy) && Contains("digest checked"));
    CHECK(backup.status == 0);
    const auto refused = run({"database", "restore", copy});
    CHECK(refused.status == 3);
    CHECK_THAT(refused.err, Contains("is written by process"));
    ready_build(*writer, "later");
  }
  const auto restored = run({"database", "restore", copy});
  CHECK(restored.status == 0);
  CHECK_THAT(restored.out, Contains("the replaced database is") && Contains(".replaced-1"));
  CHECK(BuildStore(*open()).list().value().size() == 2);
  CHECK(run({"database", "backup", copy}).status == 2);
}

TEST_CASE_METHOD(StoredComparison, "a check of the database lists the broken rules") {
  const auto sound = run({"database", "check"});
  CHECK(sound.status == 0);
  CHECK_THAT(sound.out, Contains("every digest matches"));
  SQLite::Database(folder.path() / "db.sqlite", SQLite::OPEN_READWRITE)
      .exec("UPDATE sample SET data = zeroblob(8)");
  const auto broken = run({"database", "check", "--json"});
  CHECK(broken.status == 3);
  CHECK(json::parse(broken.out).at("items").at(0).at("invariant") == "samples_match_their_digest");
}

TEST_CASE_METHOD(StoredComparison, "verdicts are exported as CSV and as JSON lines") {
  const auto csv = lines_of(run({"database", "export", "verdicts"}).out);
  REQUIRE(csv.size() == 2);
  CHECK_THAT(csv[0], Contains("candidate,baseline,workload"));
  CHECK_THAT(csv[1], Contains("n2,n1,resnet18,cpu-train,default,time,ns,inconclusive,1.5,"));
  CHECK_THAT(csv[1], Contains(R"("slow, ""very""")"));
  const auto lines = run({"database", "export", "verdicts", "--format", "json-lines"}).out;
  CHECK(json::parse(lines).at("reason") == "slow, \"very\"");
  CHECK(json::parse(lines).at("ratio") == 1.5);
}

TEST_CASE_METHOD(StoredComparison, "what is not known of a verdict is exported as an empty field") {
  CHECK_THAT(run({"database", "export", "verdicts"}).out, Contains("inconclusive,1.5,,,"));
  const auto lines = run({"database", "export", "verdicts", "--format", "json-lines"}).out;
  CHECK(json::parse(lines).at("interval_low").is_null());
  CHECK(json::parse(lines).at("interval_high").is_null());
}

TEST_CASE_METHOD(StoredComparison, "samples are exported one a line, or with their run") {
  const auto file_name = (folder.path() / "samples.csv").string();
  CHECK(run({"database", "export", "samples", "--out", file_name}).status == 0);
  const auto csv = lines_of(test::content_of(file_name));
  REQUIRE(csv.size() == 3);
  CHECK_THAT(csv[2], Contains("n2,resnet18,cpu-train,default,timing,1,12"));
  const auto run_line =
      json::parse(run({"database", "export", "samples", "--format", "json-lines"}).out);
  CHECK(run_line.at("samples_ns") == json{10, 12});
  CHECK(run_line.at("values").at("time") == 11);
  CHECK(run({"database", "export", "samples", "--out", "/dev/full"}).status == 3);
}

TEST_CASE("a search finds the build that it starts from where the state folder was moved to") {
  const test::TemporaryFolder folder;
  const auto before = folder.path() / "before";
  const auto after = folder.path() / "after";
  bisection::BisectionSpec spec;
  {
    const auto database = Database::open({.path = before / "db.sqlite"}).value();
    BuildStore builds(*database);
    auto row = builds.discover(BuildOrigin::release, "2.13.0").value();
    row.version = "2.13.0";
    row.content_hash = "h1";
    row.folder = (before / "builds/2.13.0").string();
    spec.base = builds.mark_ready(row).value().id;
    CHECK(base_folder(*database, spec).value() == row.folder);
  }
  std::filesystem::rename(before, after);
  const auto moved = Database::open({.path = after / "db.sqlite"}).value();
  const auto stored = bisection::parse_bisection_spec(to_json(spec)).value();
  CHECK(base_folder(*moved, stored).value() == (after / "builds/2.13.0").string());
  spec.base = 0;
  CHECK(base_folder(*moved, spec).value().empty());
}
