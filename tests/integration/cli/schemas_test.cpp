// What the commands print with --json, judged by the schemas of docs/schemas.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "batches.hpp"
#include "efficiency.hpp"
#include "noise_table.hpp"
#include "printed.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;
using nlohmann::json;

namespace {

/// A scripted day that was carried out, and the commands on what it left.
struct CarriedOutDay {
  CarriedOutDay() : day(folder.path(), test::day_with_two_culprits()) {
    const auto config = day.config();
    REQUIRE(test::ScriptedService::open(config).value()->carry_out_due_comparisons());
    file = folder.write("torchwatch.toml", "[storage]\npath = \"" + config.storage.path.string() +
                                               "\"\n[source]\nrepository = \"" +
                                               config.source.repository + "\"\n");
  }

  std::string run(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return test::run_command(std::move(arguments), file).out;
  }

  /// What of the document the schema does not allow, as jsonschema says it.
  std::string violations(const std::string& schema, const std::string& document) const {
    const auto path = folder.write("document.json", document);
    const std::string source = TORCHWATCH_SOURCE_DIR;
    const auto command = std::string(PYTHON_WITH_JSONSCHEMA) + " -B -W ignore " + source +
                         "/tests/support/schema_violations.py " + source + "/docs/schemas/" +
                         schema + ".json " + path.string() + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> part{};
    while (const auto size = std::fread(part.data(), 1, part.size(), pipe)) {
      text.append(part.data(), size);
    }
    REQUIRE(pclose(pipe) == 0);
    return text;
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  std::filesystem::path file;
};

}  // namespace

TEST_CASE("what commands print as JSON is as its schema says") {
  const CarriedOutDay day;
  const auto status = day.run({"status"});
  CHECK(day.violations("status", status) == "");
  const auto incidents = json::parse(status).at("open_incidents");
  REQUIRE(incidents.size() == 2);

  const auto comparison = day.run({"comparison", "show", incidents[0].at("comparison").dump()});
  CHECK(day.violations("comparison", comparison) == "");
  auto object = json::parse(comparison);
  CHECK(object.at("incidents").size() == 2);
  CHECK(object.at("verdicts").at(0).at("unit").is_string());
  object.erase("schema");
  CHECK(day.violations("nightly", json{{"schema", 1}, {"comparisons", {object}}}.dump()) == "");

  for (const auto& incident : incidents) {
    const auto shown = day.run({"incident", "show", incident.at("id").dump()});
    CHECK(day.violations("incident", shown) == "");
    const auto document = json::parse(shown);
    auto result = document.at("bisection_result");
    result["schema"] = 1;
    for (const auto& step : document.at("bisection_trace")) {
      for (const auto& reading : step.at("readings")) CHECK(reading.at("unit") != "ns");
    }
    CHECK(day.violations("bisect", result.dump()) == "");
  }
  CHECK(day.violations("items", day.run({"comparison", "list"})) == "");
  CHECK(day.violations("items", day.run({"outbox", "list"})) == "");
}

TEST_CASE("what a command has changed is JSON where JSON is asked for") {
  const CarriedOutDay day;
  const auto disputed =
      day.run({"incident", "dispute", "1", "--by", "ada", "--reason", "it changes a test only"});
  CHECK(day.violations("done", disputed) == "");
  const auto search = json::parse(day.run({"bisection", "list"})).at("items").at(0).at("id");
  const std::vector<std::vector<std::string>> changes{
      {"bisection", "cancel", search.dump()},
      {"incident", "acknowledge", "1", "--by", "ada"},
      {"incident", "close", "1", "--by", "ada"},
      {"incident", "reopen", "1", "--by", "ada"},
      {"incident", "accept", "1", "--by", "ada", "--reason", "the price of a fix"}};
  for (const auto& change : changes) {
    const auto printed = day.run(change);
    INFO(printed);
    CHECK(day.violations("done", printed) == "");
  }
  const auto retest = day.run({"incident", "retest", "2"});
  CHECK(day.violations("done", retest) == "");
  const auto object = json::parse(retest);
  CHECK(object.at("kind") == "incident");
  CHECK(object.at("item") == 2);
  CHECK(object.at("is_new") == true);
  const auto shown = day.run({"incident", "show", "2"});
  CHECK(day.violations("incident", shown) == "");
  CHECK(json::parse(shown).at("rechecks").at(0).at("outcome") == "due");
  const auto comparison = object.at("comparison").dump();
  const auto cancelled = day.run({"comparison", "cancel", comparison});
  CHECK(day.violations("done", cancelled) == "");
  CHECK(json::parse(cancelled).at("message") == "comparison " + comparison + " cancelled");
  CHECK(day.violations("done", day.run({"comparison", "retry", comparison})) == "");
}

TEST_CASE("what check and init find is as its schema says, and what needs no remedy has none") {
  const CarriedOutDay day;
  const auto checked = day.run({"check"});
  CHECK(day.violations("check", checked) == "");
  const auto begun = test::run_command({"init", "--json"}, day.folder.path() / "new.toml").out;
  CHECK(day.violations("check", begun) == "");
  for (const auto& document : {checked, begun}) {
    const auto items = json::parse(document).at("items");
    CHECK(std::ranges::any_of(items, [](const auto& item) { return item.at("remedy").is_null(); }));
  }
}

TEST_CASE("what commands that measure this machine print is as its schema says") {
  const CarriedOutDay day;
  Benchmark benchmark;
  benchmark.workload = "dlrm";
  comparison::NoiseFigure figure;
  figure.benchmark = benchmark;
  figure.value_ns = 2e6;
  figure.floor = {.change = 0.06, .runs_changed = 31, .runs_unchanged = 4};
  comparison::NoiseFigure wild = figure;
  wild.floor.change = std::numeric_limits<double>::infinity();
  comparison::NoiseFigure lost;
  lost.benchmark = benchmark;
  lost.status = RunStatus::failed;
  lost.reason = "a crash";
  const json noise = cli::noise_json({figure, wild, lost});
  CHECK(day.violations(
            "check", json{{"schema", 1}, {"items", json::array()}, {"noise", noise}}.dump()) == "");
  CHECK(noise[0].at("minimum_detectable_effect") == 0.06);
  CHECK(noise[1].at("minimum_detectable_effect").is_null());
  CHECK(noise[2].at("value").is_null());

  const cli::Efficiency efficiency{.benchmark = benchmark,
                                   .flops_per_iteration = 2e6,
                                   .flops_per_second = 2e9,
                                   .peak_flops_per_second = 4e10};
  const json measured{{"schema", 1},
                      {"build", "n1"},
                      {"figures", json::array()},
                      {"efficiency", cli::efficiency_json({efficiency})}};
  CHECK(day.violations("measure", measured.dump()) == "");

  const std::vector<comparison::BatchChoice> choices{
      {.benchmark = benchmark, .batch = 8, .tried = {{8, 1200}}, .ended = "it no longer grows"},
      {.benchmark = benchmark, .batch = 0, .tried = {}, .ended = "no other can be built"}};
  CHECK(day.violations("batches", cli::batches_json(choices).dump()) == "");
}

TEST_CASE("a command that prints text only refuses to print JSON") {
  const CarriedOutDay day;
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"database", "export", "verdicts"}, {"completion", "bash"}, {"manual"}, {"help"}}) {
    CHECK(day.violations("error", day.run(arguments)) == "");
  }
}

TEST_CASE("an error is JSON where JSON is asked for") {
  const CarriedOutDay day;
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"incident", "show", "99"}, {"statsu"}, {"status", "--log-level", "loud"}}) {
    const auto printed = day.run(arguments);
    CHECK(day.violations("error", printed) == "");
    CHECK_FALSE(json::parse(printed).at("error").at("message").get<std::string>().empty());
  }
}

TEST_CASE("a schema refuses what is not as it says") {
  const CarriedOutDay day;
  CHECK(day.violations("error", R"({"schema": 1})") != "");
  CHECK(day.violations("nightly", R"({"schema": 1, "comparisons": [{}]})") != "");
}
