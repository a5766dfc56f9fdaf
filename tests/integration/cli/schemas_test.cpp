// What the commands print with --json, judged by the schemas of docs/schemas.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "batches.hpp"
#include "carried_out_day.hpp"
#include "command_tree.hpp"
#include "coverage.hpp"
#include "efficiency.hpp"
#include "noise_table.hpp"
#include "printed.hpp"
#include "torchwatch/events/lines.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A scripted day that was carried out, and the commands on what it left.
struct CarriedOutDay {
  CarriedOutDay() : day(folder.path(), test::day_with_two_culprits()) {
    file = test::carried_out(day, folder);
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

  /// Stores a request that waits for its turn; its id.
  std::string store_request() const {
    const auto database = storage::Database::open({.path = day.config().storage.path}).value();
    const auto stored = storage::RequestStore(*database).receive(
        "key", storage::RequestKind::bisection, R"({"suspect": "abc123"})", 1);
    return std::to_string(stored.value().first.id);
  }

  /// Stores a mute of everything of a workload that holds for a day; its id.
  std::string store_mute() const {
    const auto database = storage::Database::open({.path = day.config().storage.path}).value();
    const auto now = platform::SystemClock().wall_now();
    const auto stored = storage::MuteStore(*database).add({.target = "dlrm",
                                                           .until = now + 86'400'000,
                                                           .made_by = "ada",
                                                           .reason = "known",
                                                           .asked_by = "github ada",
                                                           .made_at = now});
    return std::to_string(stored.value().id);
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  std::filesystem::path file;
};

/// What a command prints, and the schema of it.
struct Document {
  std::string schema;
  std::vector<std::string> arguments;
};

/// Commands that the other cases ask, that measure (their documents are made up here or come from
/// the scripted day), or that print no JSON.
const std::set<std::string> kAskedElsewhere{"completion bash",
                                            "completion fish",
                                            "completion zsh",
                                            "nightly",
                                            "compare",
                                            "study",
                                            "measure",
                                            "bisect",
                                            "serve",
                                            "github setup",
                                            "status",
                                            "comparison show",
                                            "comparison cancel",
                                            "comparison retry",
                                            "incident show",
                                            "incident acknowledge",
                                            "incident accept",
                                            "incident close",
                                            "incident reopen",
                                            "incident dispute",
                                            "incident retest",
                                            "bisection cancel",
                                            "workload batches",
                                            "workload verify",
                                            "database export",
                                            "init",
                                            "completion",
                                            "manual",
                                            "help"};

/// The names of all commands that do something: "incident show".
std::vector<std::string> command_names() {
  std::ostringstream out;
  std::ostringstream err;
  commands::Invocation invocation{.out = out, .err = err, .stop = {}};
  const cli::CommandTree tree(invocation);
  std::vector<const CLI::App*> left = cli::subcommands_of(tree.app());
  std::vector<std::string> names;
  while (!left.empty()) {
    const auto* command = left.back();
    left.pop_back();
    const auto below = cli::subcommands_of(*command);
    left.insert(left.end(), below.begin(), below.end());
    constexpr std::string_view kProgram = "torchwatch ";
    if (below.empty()) names.push_back(cli::full_name(*command).substr(kProgram.size()));
  }
  return names;
}

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
}

TEST_CASE("every list, and whatever else a command prints, is as its schema says") {
  const CarriedOutDay day;
  const auto request = day.store_request();
  const auto mute = day.store_mute();
  const auto printed = [&](const std::vector<std::string>& arguments) {
    return json::parse(day.run(arguments));
  };
  const auto search = printed({"bisection", "list"}).at("items").at(0).at("id").dump();
  const auto message = printed({"outbox", "list"}).at("items").at(0).at("key").get<std::string>();
  const auto builds = printed({"build", "list"}).at("items");
  const auto commit = std::ranges::find_if(
      builds, [](const json& build) { return build.at("origin") == "commit"; });
  REQUIRE(commit != builds.end());
  const auto backup = (day.folder.path() / "torchwatch.backup").string();
  const std::vector<Document> documents{
      {"comparison_list", {"comparison", "list"}},
      {"incident_list", {"incident", "list"}},
      {"bisection_list", {"bisection", "list"}},
      {"bisection", {"bisection", "show", search}},
      {"series_list", {"series", "list"}},
      {"series", {"series", "show", "--workload", "dlrm"}},
      {"machine_list", {"machine", "list"}},
      {"machine", {"machine", "show", "1"}},
      {"machine_comparison",
       {"compare", "2026-08-17", "--between", "machine=1", "--and", "machine=scripted"}},
      {"request_list", {"request", "list"}},
      {"done", {"request", "cancel", request}},
      {"mute_list", {"mute", "list"}},
      {"done", {"mute", "lift", mute}},
      {"outbox_list", {"outbox", "list"}},
      {"done", {"outbox", "retry", message}},
      {"token", {"token", "create", "ci"}},
      {"token_list", {"token", "list"}},
      {"done", {"token", "revoke", "ci"}},
      {"database_check", {"database", "check"}},
      {"backup", {"database", "backup", backup}},
      {"restore", {"database", "restore", backup}},
      {"tidied", {"database", "gc"}},
      {"build_list", {"build", "list"}},
      {"build", {"build", "fetch", "2026-08-17"}},
      {"done", {"build", "pin", "2026-08-17"}},
      {"done", {"build", "remove", commit->at("name")}},
      {"workload_list", {"workload", "list"}},
      {"check", {"check"}},
      {"config", {"config"}}};
  std::set<std::string> tried;
  for (const auto& [schema, arguments] : documents) {
    const auto document = day.run(arguments);
    INFO(arguments[0] << (arguments.size() > 1 ? " " + arguments[1] : "") << "\n" << document);
    CHECK(day.violations(schema, document) == "");
    if (json::parse(document).contains("items") && schema != "database_check") {
      CHECK_FALSE(json::parse(document).at("items").empty());
    }
    tried.insert(arguments[0]);
    if (arguments.size() > 1) tried.insert(arguments[0] + " " + arguments[1]);
  }
  const auto written = test::run_command({"init", "--json"}, day.folder.path() / "new.toml");
  CHECK(day.violations("init", written.out) == "");
  for (const auto& name : command_names()) {
    INFO(name << " has no schema that a test asks");
    CHECK((tried.contains(name) || kAskedElsewhere.contains(name)));
  }
}

TEST_CASE("what a command prints that needs a LibTorch is as its schema says") {
  const CarriedOutDay day;
  const std::vector<terminal::WorkloadCoverage> covered{
      {.workload = "dlrm", .domain = "recommendation", .operators = {"aten::mm"}, .reasons = {}},
      {.workload = "resnet50", .domain = "computer vision", .operators = {}, .reasons = {"no"}}};
  CHECK(day.violations("coverage", terminal::coverage_json(covered).dump()) == "");
  measurement::NoiseFigure known;
  known.benchmark.workload = "dlrm";
  measurement::NoiseFigure unknown = known;
  unknown.floor.change = std::numeric_limits<double>::infinity();
  unknown.reason = "too noisy";
  const json check{
      {"schema", 1}, {"items", json::array()}, {"noise", measuring::noise_json({known, unknown})}};
  CHECK(day.violations("check", check.dump()) == "");
}

TEST_CASE("an incident is shown with its samples drawn, as wide as the terminal") {
  const CarriedOutDay day;
  const auto incidents = json::parse(day.run({"status"})).at("open_incidents");
  const auto id = incidents.at(0).at("id").dump();
  for (const int columns : {60, 80, 200}) {
    const auto shown = test::run_command({"incident", "show", id}, day.file, columns);
    INFO(shown.out << shown.err);
    CHECK_THAT(shown.out, Contains("screening A") && Contains("confirmation B"));
  }
  const auto out = (day.folder.path() / "evidence").string();
  const auto exported = test::run_command(
      {"database", "export", "evidence", "--incident", id, "--out", out}, day.file);
  CHECK_THAT(exported.out, Contains(out + "/samples-1.svg") && Contains(out + "/steps.csv"));
  CHECK(test::run_command({"database", "export", "evidence"}, day.file).status == 2);
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
  CHECK(day.violations("init", begun) == "");
  for (const auto& document : {checked, begun}) {
    const auto items = json::parse(document).at("items");
    CHECK(std::ranges::any_of(items, [](const auto& item) { return item.at("remedy").is_null(); }));
  }
}

TEST_CASE("what commands that measure this machine print is as its schema says") {
  const CarriedOutDay day;
  const Benchmark benchmark{.workload = "dlrm", .configuration = {}, .variant = {}};
  measurement::NoiseFigure figure;
  figure.benchmark = benchmark;
  figure.value_ns = 2e6;
  figure.floor = {.change = 0.06, .runs_changed = 31, .runs_unchanged = 4};
  measurement::NoiseFigure wild = figure;
  wild.floor.change = std::numeric_limits<double>::infinity();
  measurement::NoiseFigure lost;
  lost.benchmark = benchmark;
  lost.status = RunStatus::failed;
  lost.reason = "a crash";
  const json noise = measuring::noise_json({figure, wild, lost});
  CHECK(day.violations(
            "check", json{{"schema", 1}, {"items", json::array()}, {"noise", noise}}.dump()) == "");
  CHECK(noise[0].at("minimum_detectable_effect") == 0.06);
  CHECK(noise[1].at("minimum_detectable_effect").is_null());
  CHECK(noise[2].at("value").is_null());

  const measuring::Efficiency efficiency{.benchmark = benchmark,
                                         .flops_per_iteration = 2e6,
                                         .flops_per_second = 2e9,
                                         .peak_flops_per_second = 4e10};
  const json measured{{"schema", 1},
                      {"build", "n1"},
                      {"figures", json::array()},
                      {"efficiency", measuring::efficiency_json({efficiency})}};
  CHECK(day.violations("measure", measured.dump()) == "");

  const std::vector<measurement::BatchChoice> choices{
      {.benchmark = benchmark, .batch = 8, .tried = {{8, 1200}}, .ended = "it no longer grows"},
      {.benchmark = benchmark, .batch = 0, .tried = {}, .ended = "no other can be built"}};
  CHECK(day.violations("batches", measuring::batches_json(choices).dump()) == "");
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

TEST_CASE("with --events each line is as its schema says, and the last is the document") {
  const CarriedOutDay day;
  std::ostringstream lines;
  {
    const auto database = storage::Database::open({.path = day.day.config().storage.path}).value();
    const auto printing = events::Lines::start(*database, lines).value();
    REQUIRE(
        storage::RequestStore(*database).receive("key", storage::RequestKind::nightly, "{}", 1));
  }
  CHECK(day.violations("event", lines.str()) == "");
  CHECK(json::parse(lines.str()).at("kind") == "request");
  const auto failed = test::run_command({"bisect", "--suspect", "none", "--events"}, day.file);
  CHECK(std::ranges::count(failed.out, '\n') == 1);
  CHECK(day.violations("error", failed.out) == "");
}

TEST_CASE("options --events and --json exclude each other, and only long work has --events") {
  const CarriedOutDay day;
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"nightly", "--events", "--json"},
                                             {"compare", "a", "b", "--events", "--json"},
                                             {"bisect", "a", "b", "--events", "--json"}}) {
    const auto printed = test::run_command(arguments, day.file);
    CHECK(printed.status == 2);
    CHECK_THAT(printed.err, Catch::Contains("leave out one of them"));
  }
  CHECK_THAT(test::run_command({"status", "--events"}, day.file).err,
             Catch::Contains("there is no option --events"));
}

TEST_CASE("a schema refuses what is not as it says") {
  const CarriedOutDay day;
  CHECK(day.violations("error", R"({"schema": 1})") != "");
  CHECK(day.violations("nightly", R"({"schema": 1, "comparisons": [{}]})") != "");
}
