// The command line on a stored database, in this process: what it prints for people and machines.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "temporary_folder.hpp"
#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

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

  CommandLine() : file(folder.write("torchwatch.toml", "[storage]\npath = \"db.sqlite\"\n")) {}

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

  test::TemporaryFolder folder;
  std::filesystem::path file;
};

}  // namespace

TEST_CASE("without a database reading commands say which command makes one") {
  const CommandLine line;
  for (const auto* command : {"status", "incidents", "builds"}) {
    const auto printed = line.run({command});
    CHECK(printed.status == 2);
    CHECK(printed.out.empty());
    CHECK_THAT(printed.err, Contains("db.sqlite") && Contains("torchwatch nightly"));
  }
}

TEST_CASE("incidents are a table for people and objects for machines") {
  const CommandLine line;
  line.store_incident();
  const auto table = line.run({"incidents"});
  CHECK(table.status == 0);
  CHECK_THAT(table.out, Contains("opened, UTC") && Contains("2026-08-17 03:04") &&
                            Contains("resnet18 cpu-train time +15.0 %"));
  const auto objects = json::parse(line.run({"incidents", "--json"}).out).at("incidents");
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
             Contains("incident 1, open") && Contains("It is slower."));
  const auto unknown = line.run({"incident", "show", "7"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("7"));
}

TEST_CASE("builds are listed with where they come from") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(line.run({"builds"}).out, Contains("2.14.0.dev20260816") && Contains("nightly"));
}

TEST_CASE("a log level is one of the known words") {
  const CommandLine line;
  line.store_incident();
  const auto loud = line.run({"status", "--log-level", "loud"});
  CHECK(loud.status == 2);
  CHECK_THAT(loud.err, Contains("invalid log level \"loud\": must be one of debug, info"));
  CHECK(line.run({"status", "--log-level", "debug"}).status == 0);
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
