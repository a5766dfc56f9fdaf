// Executables of somebody's own as workloads of the suite: planned, measured, judged, searched.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

config::ExternalWorkload workload(const std::string& name) {
  return {
      .name = name,
      .command = {"/usr/bin/python3", TORCHWATCH_SOURCE_DIR "/tests/support/external_workload.py"},
      .metrics = {Metric::time, Metric::heap_growth, Metric::output_difference},
      .device = Device::cpu,
      .modes = {Mode::train},
      .readable = {}};
}

std::vector<test::ScriptedCommit> day_with_three_culprits_of_mine() {
  return {{"Start of the day", "noise 0.01 fixed"},
          {"Explain how to build the docs", ""},
          {"Add an overload", "# overload"},
          {"Check all elements twice", "time mine cpu-train 1.5"},
          {"Rename a variable", "# renamed"},
          {"Keep the last result", "heap mine cpu-train 4096"},
          {"Round early", "result mine cpu-train 1.04"},
          {"Add a kernel for one shape", "# kernel"}};
}

/// A day with external workloads, carried out.
struct Day {
  explicit Day(const std::vector<config::ExternalWorkload>& externals)
      : day(folder.path(), day_with_three_culprits_of_mine()) {
    auto config = day.config();
    config.suite.workloads.clear();  // all, and so the external ones
    config.suite.externals = externals;
    config.measure.outputs = true;
    service = test::ScriptedService::open(config).value();
    const auto done = service->carry_out_due_comparisons();
    if (!done) FAIL(done.error().text());
    REQUIRE_FALSE(done->empty());
    nightly = done->front().id;
  }

  std::vector<storage::VerdictRow> verdicts_of(const std::string& name) {
    auto all = storage::verdicts_of(service->services().database, nightly).value();
    std::erase_if(all, [&](const auto& row) { return row.series.benchmark.workload != name; });
    return all;
  }

  Verdict verdict_of(const std::string& name, Metric metric) {
    for (const auto& row : verdicts_of(name)) {
      if (row.series.metric == metric) return row.verdict;
    }
    FAIL("no verdict of " << name);
    return Verdict::failed;
  }

  std::vector<std::string> culprits() {
    std::vector<std::string> found;
    const auto rows = storage::BisectionStore(service->services().database).list(10).value();
    for (const auto& row : rows) {
      const auto result = bisection::parse_bisection_result(row.result_json).value();
      found.push_back(result.culprit().value_or("none"));
    }
    return found;
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  std::unique_ptr<test::ScriptedService> service;
  storage::Id nightly = 0;
};

}  // namespace

TEST_CASE("an external workload is planned, measured, judged and searched like any other") {
  Day day({workload("mine")});
  CHECK(day.verdict_of("mine", Metric::time) == Verdict::regressed);
  CHECK(day.verdict_of("mine", Metric::heap_growth) == Verdict::regressed);
  CHECK(day.verdict_of("mine", Metric::output_difference) == Verdict::regressed);
  // Only what it states, in its mode alone.
  CHECK(day.verdicts_of("mine").size() == 3);
  CHECK_FALSE(day.verdicts_of("dlrm").empty());
  const auto culprits = day.culprits();
  CHECK_THAT(culprits, Catch::VectorContains(day.day.commits()[3]));
  CHECK_THAT(culprits, Catch::VectorContains(day.day.commits()[5]));
  CHECK_THAT(culprits, Catch::VectorContains(day.day.commits()[6]));

  auto& database = day.service->services().database;
  const auto incidents = storage::IncidentStore(database).list(10).value();
  CHECK(incidents.size() == 3);
  for (const auto& incident : incidents) {
    const auto messages = storage::OutboxStore(database).of_incident(incident.id).value();
    REQUIRE_FALSE(messages.empty());
    CHECK_THAT(messages.front().body, Contains("`mine cpu-train`"));
  }
}

TEST_CASE("an external workload that cannot be started fails alone, with what to do") {
  auto missing = workload("missing");
  missing.command = {"/nowhere/program"};
  missing.metrics = {Metric::time};
  Day day({missing, workload("mine")});
  const auto verdicts = day.verdicts_of("missing");
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts.front().verdict == Verdict::failed);
  CHECK_THAT(verdicts.front().reason, Contains("/nowhere/program does not exist: correct"));
  CHECK(day.verdict_of("mine", Metric::time) == Verdict::regressed);
}

TEST_CASE("a setting that only a runner could apply is not supported by an external workload") {
  auto quick = workload("quick");
  quick.metrics = {Metric::time};
  Day day({workload("mine"), quick});
  auto& services = day.service->services();
  const auto build = storage::ComparisonStore(services.database).get(day.nightly).value().candidate;
  const auto verdicts = [&](const std::string& setting, Metric metric = Metric::time) {
    const auto opened =
        nightly::open_study(services, build, {.baseline = "default", .candidate = setting},
                            {.workloads = {"mine", "dlrm"},
                             .configurations = {{Device::cpu, Mode::train}},
                             .metrics = {metric}});
    if (!opened) FAIL(opened.error().text());
    const auto ended = nightly::carry_out_comparison(services, *opened, {});
    if (!ended) FAIL(ended.error().text());
    return storage::verdicts_of(services.database, ended->id).value();
  };
  for (const auto& row : verdicts("denormals=flushed,gradients=zeroed")) {
    INFO(to_string(row.series) << ": " << row.reason);
    const bool is_external = row.series.benchmark.workload == "mine";
    CHECK((row.verdict == Verdict::unsupported) == is_external);
    if (!is_external) continue;
    CHECK_THAT(row.reason, Contains("no switch for denormals=, gradients="));
  }
  for (const auto& row : verdicts("TORCH_SOMETHING=1")) CHECK(row.verdict == Verdict::unchanged);
  const auto reason_of_mine = [](const std::vector<storage::VerdictRow>& rows) {
    const auto row = std::ranges::find_if(
        rows, [](const auto& each) { return each.series.benchmark.workload == "mine"; });
    REQUIRE(row != rows.end());
    CHECK(row->verdict == Verdict::unsupported);
    return row->reason;
  };
  CHECK_THAT(reason_of_mine(verdicts("backend=torchscript")),
             Contains("is not compiled by torchscript"));
  CHECK_THAT(reason_of_mine(verdicts("workload=quick", Metric::heap_growth)),
             Contains("\"quick\" states nothing of the pass memory"));
}

TEST_CASE("the suite lists external workloads, and refuses one with the name of another") {
  config::Config config;
  config.suite.externals = {workload("mine")};
  auto suite = nlohmann::json::array();
  comparison::add_externals(suite, config);
  REQUIRE(suite.size() == 1);
  CHECK(suite[0]["domain"] == "external");
  CHECK(suite[0]["task"] == "python3 external_workload.py");
  CHECK(suite[0]["configurations"][0]["supported"] == true);
  CHECK(suite[0]["configurations"][1]["supported"] == false);
  CHECK(comparison::with_externals(config, {"dlrm"}).value() ==
        std::vector<std::string>{"dlrm", "mine"});
  CHECK_THAT(comparison::with_externals(config, {"mine"}).error().message,
             Contains("\"mine\" is that of a workload of the suite"));
}

TEST_CASE("a command whose files change is another workload: its runs are not compared") {
  const test::TemporaryFolder folder;
  auto external = workload("mine");
  external.command = {folder.write("workload.py", "one").string(), "--size=2"};
  const auto before = comparison::fingerprint(external).value();
  CHECK(comparison::fingerprint(external).value() == before);
  folder.write("workload.py", "two");
  CHECK(comparison::fingerprint(external).value() != before);
  // Weights may be large: their size and time count.
  const auto weights = folder.write("weights.pt", "");
  external.command.push_back(weights.string());
  std::filesystem::resize_file(weights, 65U << 20U);
  const auto with_weights = comparison::fingerprint(external).value();
  CHECK(comparison::fingerprint(external).value() == with_weights);
  std::filesystem::resize_file(weights, 66U << 20U);
  CHECK(comparison::fingerprint(external).value() != with_weights);
}
