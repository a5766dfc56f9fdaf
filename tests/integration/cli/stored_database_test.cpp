// The command line on a stored database, in this process: what it prints for people and machines.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "temporary_folder.hpp"
#include "torchwatch/bisection/result.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/run_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z

Id ready_build(Database& database, const std::string& name) {
  BuildStore builds(database);
  auto row = builds.discover(BuildOrigin::nightly, name).value();
  row.version = "2.14.0";
  row.content_hash = "hash of " + name;
  row.folder = "/builds/" + name;
  return builds.mark_ready(row).value().id;
}

struct CommandLine {
  struct Printed {
    int status = 0;
    std::string out;
    std::string err;
  };

  CommandLine()
      : file(folder.write("torchwatch.toml",
                          "[storage]\npath = \"db.sqlite\"\n[executor]\nmachine_lock = "
                          "\"torchwatch-test-" +
                              std::to_string(getpid()) + "\"\n")) {}

  Printed run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "torchwatch");
    arguments.insert(arguments.end(), {"--config", file.string()});
    std::vector<const char*> values;
    for (const auto& argument : arguments) values.push_back(argument.c_str());
    std::ostringstream out;
    std::ostringstream err;
    const int status = cli::run(values, out, err, {});
    return {status, out.str(), err.str()};
  }

  /// A nightly that found one regression.
  void store_incident() const {
    const auto database = Database::open({folder.path() / "db.sqlite", "", false}).value();
    const auto baseline = ready_build(*database, "2.14.0.dev20260816");
    const auto candidate = ready_build(*database, "2.14.0.dev20260817");
    const auto comparison =
        ComparisonStore(*database).open({Purpose::nightly, candidate, baseline}, kNow).value();
    IncidentStore incidents(*database);
    IncidentRow row;
    row.comparison = comparison.id;
    row.key = "time-cpu:abc";
    row.title = "resnet18 cpu-train time +15.0 %";
    row.opened_at = kNow;
    const auto incident = incidents.open(row).value();
    OutboxRow message;
    message.key = "open:abc";
    message.incident = incident.id;
    message.title = row.title;
    message.body = "It is slower.";
    REQUIRE(incidents.queue(message));
  }

  std::unique_ptr<Database> open() const {
    return Database::open({folder.path() / "db.sqlite", "", false}).value();
  }

  /// The incident of `store_incident`, reported, with a bisection that named a commit.
  void store_culprit() const {
    store_incident();
    const auto database = open();
    ComparisonStore comparisons(*database);
    REQUIRE(comparisons.advance(comparisons.get(1).value(), ComparisonState::reported, kNow));
    bisection::BisectionSpec spec;
    spec.good = "61e9d2b9652d";
    spec.bad = "09143755fce1";
    spec.series = {{.series = kSeries}};
    BisectionRow row;
    row.incident = 1;
    row.good = spec.good;
    row.bad = spec.bad;
    row.spec_json = to_json(spec);
    row.created_at = kNow;
    BisectionStore bisections(*database);
    const auto opened = bisections.open(row).value();
    bisection::BisectionResult result;
    result.culprits.emplace_back().commits = {"bed9e5a977bb93dcaf61"};
    REQUIRE(bisections.end(opened, to_json(result), kNow));
    REQUIRE(IncidentStore(*database).attach_bisection(1, opened.id));
  }

  /// Two runs of `kSeries`.
  void store_runs() const {
    store_incident();
    const auto database = open();
    RunStore runs(*database);
    for (const std::string token : {"t1", "t2"}) {
      REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                          .slot = token,
                          .build = 1,
                          .benchmark = kSeries.benchmark},
                         token, kNow));
      RunResult result;
      result.attempt = token;
      result.samples_ns = {2'000'000, 2'100'000, 2'300'000};
      result.values = {{Metric::time, 2'100'000}};
      REQUIRE(runs.record({{token, result}}, kNow));
    }
  }

  static inline const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  test::TemporaryFolder folder;
  std::filesystem::path file;
};

}  // namespace

TEST_CASE("without a database reading commands say which command makes one") {
  const CommandLine line;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"status"}, {"incident", "list"}, {"build", "list"}}) {
    const auto printed = line.run(command);
    CHECK(printed.status == 2);
    CHECK(printed.out.empty());
    CHECK_THAT(printed.err, Contains("db.sqlite") && Contains("torchwatch nightly"));
  }
}

TEST_CASE("incidents are a table for people and objects for machines") {
  const CommandLine line;
  line.store_incident();
  const auto table = line.run({"incident", "list"});
  CHECK(table.status == 0);
  CHECK_THAT(table.out, Contains("opened, UTC") && Contains("2026-08-17 03:04") &&
                            Contains("resnet18 cpu-train time +15.0 %"));
  const auto objects = json::parse(line.run({"incident", "list", "--json"}).out).at("items");
  REQUIRE(objects.size() == 1);
  CHECK(objects[0].at("kind") == "regression");
  CHECK(objects[0].at("opened_at") == "2026-08-17T03:04:05Z");
  CHECK(objects[0].at("issue_number").is_null());
}

TEST_CASE("status lists the comparisons with their builds") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(line.run({"status"}).out,
             Contains("2.14.0.dev20260817") && Contains("2.14.0.dev20260816"));
  const auto comparisons = json::parse(line.run({"status", "--json"}).out).at("comparisons");
  REQUIRE(comparisons.size() == 1);
  CHECK(comparisons[0].at("candidate") == "2.14.0.dev20260817");
  CHECK(comparisons[0].at("incidents") == 1);
}

TEST_CASE("an incident is shown with its message, and an unknown one is wrong use") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("Incident 1, regression, open since 2026-08-17 03:04 UTC") &&
                 Contains("torchwatch incident acknowledge 1") && !Contains("It is slower."));
  CHECK(line.run({"incident", "show", "1", "--markdown"}).out ==
        "# resnet18 cpu-train time +15.0 %\n\nIt is slower.\n");
  const auto unknown = line.run({"incident", "show", "7"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("7"));
}

TEST_CASE("builds are listed with where they come from") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(line.run({"build", "list"}).out,
             Contains("2.14.0.dev20260816") && Contains("nightly"));
}

TEST_CASE("a log level is one of the known words") {
  const CommandLine line;
  line.store_incident();
  const auto loud = line.run({"status", "--log-level", "loud"});
  CHECK(loud.status == 2);
  CHECK_THAT(loud.err, Contains("invalid log level \"loud\": must be one of debug, info"));
  CHECK(line.run({"status", "--log-level", "debug"}).status == 0);
  const auto fancy = line.run({"status", "--progress", "fancy"});
  CHECK(fancy.status == 2);
  CHECK_THAT(fancy.err, Contains("must be auto, plain or none"));
}

TEST_CASE("help and wrong use go where they belong") {
  const CommandLine line;
  const auto help = line.run({"--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, Contains("--log-level") && Contains("serve"));
  const auto wrong = line.run({"statsu"});
  CHECK(wrong.status == 2);
  CHECK(wrong.out.empty());
  CHECK_FALSE(wrong.err.empty());
}

TEST_CASE("a word that is no command or option is named, with what was probably meant") {
  const CommandLine line;
  const auto command = line.run({"statsu"});
  CHECK(command.status == 2);
  CHECK(command.out.empty());
  CHECK_THAT(command.err, Contains("there is no command \"statsu\"; did you mean status?"));
  CHECK_THAT(line.run({"status", "--jsn"}).err,
             Contains("there is no option --jsn; did you mean --json?"));
  CHECK_THAT(line.run({"incident", "shwo"}).err, Contains("did you mean show?"));
  CHECK_THAT(line.run({"incident", "show"}).err, Contains("ID is required"));
}

TEST_CASE("the version is one line") {
  const CommandLine line;
  const auto printed = line.run({"--version"});
  CHECK(printed.status == 0);
  CHECK(printed.out == "torchwatch 0.1.0\n");
}

TEST_CASE("init writes a configuration that can be loaded, and never over another") {
  const CommandLine line;
  const auto file = line.folder.path() / "new.toml";
  const auto init = [&] {
    std::ostringstream out;
    std::ostringstream err;
    const auto text = file.string();
    const std::vector<const char*> arguments{"torchwatch", "init", "--config", text.c_str()};
    const int status = cli::run(arguments, out, err, {});
    return CommandLine::Printed{status, out.str(), err.str()};
  };
  const auto first = init();
  CHECK(first.status == 0);
  CHECK_THAT(first.out, Contains("Wrote " + file.string()) && Contains("[channel]"));
  CHECK(config::load(file, true).has_value());
  const auto again = init();
  CHECK(again.status == 2);
  CHECK_THAT(again.err, Contains("there is a " + file.string() + " already"));
}

TEST_CASE("what waits is listed with its reason, and can be cancelled or retried") {
  const CommandLine line;
  line.store_incident();
  {
    const auto database = Database::open({line.folder.path() / "db.sqlite", "", false}).value();
    REQUIRE(SetbackStore(*database).record({.key = {ItemKind::comparison, "1"},
                                            .since = kNow,
                                            .not_before = kNow,
                                            .error = "no space left"}));
  }
  CHECK_THAT(line.run({"comparison", "list"}).out,
             Contains("waits since 2026-08-17 03:04: no space left"));
  const auto items = json::parse(line.run({"comparison", "list", "--json"}).out);
  CHECK(items.at("schema") == 1);
  CHECK(items.at("items").at(0).at("state") == "discovered");
  CHECK(line.run({"comparison", "cancel", "1"}).out == "comparison 1 cancelled\n");
  const auto again = line.run({"comparison", "cancel", "1"});
  CHECK(again.status == 3);
  CHECK_THAT(again.err, Contains("comparison 1 is cancelled and cannot be cancelled"));
  CHECK_THAT(line.run({"comparison", "show", "1"}).out,
             Contains("comparison 1, nightly, cancelled"));
  CHECK(line.run({"comparison", "retry", "1"}).out == "comparison 1 is due again\n");
  CHECK(line.run({"comparison", "show", "9"}).status == 2);
  CHECK(line.run({"comparison", "show"}).out == line.run({"comparison", "show", "1"}).out);
}

TEST_CASE("messages and requests are listed, retried and cancelled") {
  const CommandLine line;
  line.store_incident();
  {
    const auto database = Database::open({line.folder.path() / "db.sqlite", "", false}).value();
    IncidentStore incidents(*database);
    REQUIRE(incidents.mark_sending("open:abc"));
    REQUIRE(incidents.record_failure(
        "open:abc", {.error = "422: too long", .tries = 3, .failures = 3, .give_up = true}));
    REQUIRE(RequestStore(*database).receive("d1", RequestKind::nightly, "{}", kNow));
  }
  CHECK_THAT(line.run({"outbox", "list"}).out, Contains("dead") && Contains("422: too long"));
  CHECK(line.run({"outbox", "retry", "open:abc"}).out == "message open:abc is due again\n");
  const auto messages = json::parse(line.run({"outbox", "list", "--json"}).out).at("items");
  CHECK(messages.at(0).at("state") == "pending");
  CHECK_THAT(line.run({"request", "list"}).out, Contains("pending"));
  CHECK(line.run({"request", "cancel", "1"}).out == "request 1 cancelled\n");
  CHECK_THAT(line.run({"request", "list"}).out, Contains("cancelled by a person"));
}

TEST_CASE("a closed incident is reopened with a comment, an open one is not") {
  const CommandLine line;
  line.store_culprit();
  CHECK(line.run({"incident", "reopen", "1", "--by", "ada"}).status == 3);
  REQUIRE(line.run({"incident", "accept", "1", "--by", "ada", "--reason", "the price"}).status ==
          0);
  CHECK(line.run({"incident", "reopen", "1", "--by", "ada"}).out == "incident 1 reopened by ada\n");
  const auto database = line.open();
  const auto incident = IncidentStore(*database).get(1).value();
  CHECK(incident.state == IncidentState::open);
  CHECK_FALSE(incident.acceptance);
  const auto messages = IncidentStore(*database).outbox_of(1).value();
  CHECK_THAT(messages.back().body, Contains("Opened again by `ada`"));
  CHECK(database->check_invariants().value().empty());
}

TEST_CASE("a disputed commit is searched again, on a search of its own, and is counted") {
  const CommandLine line;
  line.store_culprit();
  CHECK_THAT(line.run({"bisection", "list"}).out,
             Contains("bed9e5a977bb") && Contains("1 bisection named a commit; 0 were disputed."));
  const std::vector<std::string> dispute{
      "incident", "dispute", "1", "--by", "ada", "--reason", "it changes a test only"};
  CHECK_THAT(line.run(dispute).out, Contains("incident 1 disputed by ada"));
  {
    const auto database = line.open();
    CHECK(IncidentStore(*database).get(1).value().bisection == 2);
    const auto again = BisectionStore(*database).get(2).value();
    CHECK(again.state == BisectionState::open);
    CHECK(again.incident == 1);
    CHECK_THAT(IncidentStore(*database).outbox_of(1).value().back().body,
               Contains("it changes a test only"));
  }
  CHECK_THAT(line.run({"bisection", "list"}).out, Contains("1 was disputed."));
  CHECK_THAT(line.run({"bisection", "show", "2"}).out,
             Contains("ada disputes what it named: it changes a test only"));
  const auto twice = line.run(dispute);
  CHECK(twice.status == 3);
  CHECK_THAT(twice.err, Contains("being searched by bisection 2"));
  CHECK(line.run({"bisection", "cancel", "2"}).out == "bisection 2 cancelled\n");
  CHECK(line.run({"bisection", "cancel", "2"}).status == 3);
}

TEST_CASE("an incident that names no commit cannot be disputed") {
  const CommandLine line;
  line.store_incident();
  const auto early = line.run({"incident", "dispute", "1", "--by", "ada", "--reason", "no"});
  CHECK(early.status == 3);
  CHECK_THAT(early.err, Contains("before its comparison 1 has ended"));
}

TEST_CASE("a retest is a recheck of the incident's series") {
  const CommandLine line;
  line.store_culprit();
  CHECK_THAT(line.run({"incident", "retest", "1"}).out, Contains("measured again"));
  const auto row = ComparisonStore(*line.open()).get(2).value();
  CHECK(row.purpose == Purpose::recheck);
  CHECK(row.incident == 1);
  CHECK(row.baseline == 1);
}

TEST_CASE("series are listed, and shown with history and samples") {
  const CommandLine line;
  line.store_runs();
  CHECK_THAT(line.run({"series", "list"}).out,
             Contains("resnet18") && Contains("2.1 ms") && Contains("2.14.0.dev20260816"));
  const auto items =
      json::parse(line.run({"series", "show", "--workload", "resnet18", "--json"}).out).at("items");
  REQUIRE(items.size() == 1);
  CHECK(items[0].at("history").size() == 2);
  CHECK(items[0].at("samples_ns").size() == 3);
  CHECK(items[0].at("unit") == "ns");
  CHECK_THAT(line.run({"series", "show", "--workload", "resnet18"}).out,
             Contains("3 samples, least 2 ms, median 2.1 ms, greatest 2.3 ms"));
  CHECK(line.run({"series", "show", "--workload", "dlrm"}).status == 2);
  CHECK_THAT(line.run({"series", "list", "--metric", "cpu_peak"}).out, Contains("No series"));
}

TEST_CASE("builds outside of the cache are neither removed nor pinned") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(line.run({"build", "list"}).out, Contains("gone"));
  CHECK(line.run({"build", "remove", "2.14.0.dev20260816"}).status == 2);
  CHECK(line.run({"build", "pin", "none"}).status == 2);
}

TEST_CASE("the workloads are listed without a build, a kit or a database") {
  const CommandLine line;
  const auto printed = line.run({"workload", "list"});
  CHECK(printed.status == 0);
  CHECK_THAT(printed.out, Contains("resnet18") && Contains("computer vision") &&
                              Contains("Parameters are not known"));
  const auto items = json::parse(line.run({"workload", "list", "--json"}).out).at("items");
  CHECK(items.size() == 84);
  CHECK(items[0].at("params_trainable").is_null());
}

TEST_CASE("nightly with nothing due says so in one sentence, which is success") {
  const CommandLine line;
  line.store_incident();
  std::filesystem::create_directory(line.folder.path() / "nightlies");
  REQUIRE(line.run({"comparison", "cancel", "1"}).status == 0);
  const auto printed = line.run({"nightly"});
  INFO(printed.err);
  CHECK(printed.status == 0);
  CHECK(printed.out == "Nothing is due: every nightly has its verdict; see `torchwatch status`.\n");
  CHECK(json::parse(line.run({"nightly", "--json"}).out) ==
        json{{"schema", 1}, {"comparisons", json::array()}});
}
