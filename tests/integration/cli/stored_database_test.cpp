// The command line on a stored database, in this process: what it prints for people and machines.
#include <fstream>

#include "stored_command_line.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;
using test::CommandLine;
using test::kNow;

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
  CHECK(comparisons[0].at("candidate").at("name") == "2.14.0.dev20260817");
  CHECK(comparisons[0].at("incident_count") == 1);
}

TEST_CASE("an incident is shown with its message, and an unknown one is wrong use") {
  const CommandLine line;
  line.store_incident();
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("Incident 1, regression, open since 2026-08-17 03:04 UTC") &&
                 Contains("torchwatch incident acknowledge 1") && !Contains("It is slower."));
  CHECK(line.run({"incident", "show", "1", "--format", "markdown"}).out ==
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
  CHECK_THAT(fancy.err, Contains("must be auto, bar, plain or none"));
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

TEST_CASE("a word that is not a command or option is named, with what was probably meant") {
  const CommandLine line;
  const auto command = line.run({"statsu"});
  CHECK(command.status == 2);
  CHECK(command.out.empty());
  CHECK_THAT(command.err, Contains("there is no command \"statsu\"; did you mean status?"));
  CHECK_THAT(line.run({"status", "--jsn"}).err,
             Contains("there is no option --jsn; did you mean --json?"));
  CHECK_THAT(line.run({"incident", "shwo"}).err, Contains("did you mean show?"));
  CHECK_THAT(line.run({"incident", "show"}).err, Contains("ID is missing"));
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
    return test::Printed{status, out.str(), err.str()};
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
  CHECK(again.status == 2);
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
    OutboxStore outbox(*database);
    REQUIRE(outbox.mark_sending("open:abc"));
    REQUIRE(outbox.record_failure(
        "open:abc", {.error = "422: too long", .tries = 3, .failures = 3, .give_up = true}));
    REQUIRE(RequestStore(*database).receive("d1", RequestKind::nightly, "{}", kNow));
  }
  CHECK_THAT(line.run({"outbox", "list"}).out, Contains("dead") && Contains("422: too long"));
  CHECK(line.run({"outbox", "retry", "open:abc"}).out == "message open:abc is due again\n");
  const auto messages = json::parse(line.run({"outbox", "list", "--json"}).out).at("items");
  CHECK(messages.at(0).at("state") == "pending");
  CHECK_THAT(line.run({"request", "list"}).out, Contains("pending"));
  CHECK(line.run({"request", "cancel", "1"}).out == "request 1 cancelled\n");
  CHECK_THAT(line.run({"request", "list"}).out, Contains("cancelled by uid "));
}

TEST_CASE("series are listed, and shown with history and samples") {
  const CommandLine line;
  line.store_runs();
  CHECK_THAT(line.run({"series", "list"}).out,
             Contains("resnet18") && Contains("2.1 ms") && Contains("2.14.0.dev20260816"));
  const auto items =
      json::parse(line.run({"series", "show", "--workload", "resnet18", "--json"}).out).at("items");
  REQUIRE(items.size() == 1);
  CHECK(items[0].at("values").size() == 2);
  CHECK(items[0].at("values").at(1).at("build").at("name") == "2.14.0.dev20260816");
  CHECK(items[0].at("samples_ns").size() == 3);
  CHECK(items[0].at("unit") == "ns");
  CHECK_THAT(line.run({"series", "show", "--workload", "resnet18"}).out,
             Contains("3 samples, least 2 ms, median 2.1 ms, greatest 2.3 ms"));
  CHECK(line.run({"series", "show", "--workload", "dlrm"}).status == 2);
  CHECK_THAT(line.run({"series", "list", "--metric", "cpu_peak"}).out, Contains("No series"));
  for (const std::string verb : {"list", "show"}) {
    const auto unknown = line.run({"series", verb, "--workload", "resnet81"});
    CHECK(unknown.status == 2);
    CHECK_THAT(unknown.err, Contains("did you mean resnet18"));
  }
}

TEST_CASE("runs of commits are not part of a series' history unless they are asked for") {
  const CommandLine line;
  line.store_runs();
  {
    const auto database = line.open();
    BuildStore builds(*database);
    auto commit = builds.discover(BuildOrigin::commit, std::string(40, 'c')).value();
    commit.version = "1";
    commit.content_hash = "hash of a commit";
    commit.folder = "/builds/commit";
    commit = builds.mark_ready(commit).value();
    RunStore runs(*database);
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                        .slot = "t3",
                        .build = commit.id,
                        .benchmark = CommandLine::kSeries.benchmark},
                       "t3", kNow));
    RunResult result;
    result.attempt = "t3";
    result.samples_ns = {9'000'000};
    result.values = {{Metric::time, 9'000'000}};
    REQUIRE(runs.record({{"t3", result}}, kNow));
  }
  const auto history = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"series", "show", "--workload", "resnet18", "--json"});
    return json::parse(line.run(arguments).out).at("items").at(0).at("values").size();
  };
  CHECK(history({}) == 2);
  CHECK(history({"--commits"}) == 3);
}

TEST_CASE("a pinned build is removed once it is not pinned any more") {
  const CommandLine line;
  const auto tree = line.folder.path() / "builds/commits" / std::string(40, 'c');
  line.folder.write("builds/commits/" + std::string(40, 'c') + "/build-hash", "c");
  {
    const auto database = line.open();
    BuildStore builds(*database);
    auto row = builds.discover(BuildOrigin::commit, std::string(40, 'c')).value();
    row.version = "1";
    row.content_hash = "h";
    row.folder = tree;
    REQUIRE(builds.mark_ready(row));
  }
  const auto build = std::string(12, 'c');
  const auto cache = "[build]\ncache = \"" + (line.folder.path() / "builds").string() + "\"\n";
  std::ofstream(line.file, std::ios::app) << cache;
  CHECK(line.run({"build", "pin", build}).status == 0);
  const auto refused = line.run({"build", "remove", build});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("is pinned: `torchwatch build pin " + build + " --release`"));
  CHECK(line.run({"build", "pin", build, "--release"}).status == 0);
  CHECK(line.run({"build", "remove", build}).status == 0);
  CHECK_FALSE(std::filesystem::exists(tree));
}

TEST_CASE("a build outside of the cache is kept without being pinned") {
  const CommandLine line;
  const auto tree = line.folder.path() / "mine";
  line.folder.write("mine/build-hash", "c");
  {
    const auto database = line.open();
    BuildStore builds(*database);
    auto row = builds.discover(BuildOrigin::folder, tree).value();
    row.version = "1";
    row.content_hash = "h";
    row.folder = tree;
    REQUIRE(builds.mark_ready(row));
  }
  const auto pinned = line.run({"build", "pin", tree});
  CHECK(pinned.status == 0);
  CHECK_THAT(pinned.out, Contains("is kept anyway"));
  CHECK_FALSE(std::filesystem::exists(tree / "pinned"));
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
  CHECK_THAT(printed.out,
             Contains("Nothing is due: 2.14.0.dev20260817 has no verdict: comparison 1 is "
                      "cancelled") &&
                 Contains("`torchwatch comparison retry 1` takes it up again."));
  CHECK(line.run({"nightly", "--events"}).out == "{\"comparisons\":[],\"schema\":1}\n");
  CHECK(json::parse(line.run({"nightly", "--json"}).out) ==
        json{{"schema", 1}, {"comparisons", json::array()}});
}

TEST_CASE("nightly without the channel's folder blames the environment, with an empty one nobody") {
  const CommandLine line;
  const auto gone = line.run({"nightly"});
  CHECK(gone.status == 3);
  CHECK_THAT(gone.err, Contains("[channel] path") && Contains("there is no such folder"));
  CHECK_FALSE(std::filesystem::exists(line.folder.path() / "db.sqlite"));
  std::filesystem::create_directory(line.folder.path() / "nightlies");
  const auto empty = line.run({"nightly"});
  CHECK(empty.status == 0);
  CHECK_THAT(empty.out, Contains("Nothing is due: the channel, [channel] in ") &&
                            Contains("has no nightly yet."));
  CHECK(json::parse(line.run({"nightly", "--json"}).out).at("comparisons").empty());
  line.folder.write("nightlies/damaged/build-hash", std::string(40, '0'));
  const auto rejected = line.run({"nightly"});
  CHECK(rejected.status == 3);
  CHECK_THAT(rejected.err, Contains("no nightly of the channel can be used"));
}

TEST_CASE("a fault of the configuration ends with how to test it, except in the test itself") {
  const CommandLine line;
  line.folder.write("torchwatch.toml", "[storage]\npath = 7\n");
  const std::string hint = "`torchwatch check --config " + line.file.string() + "` tests";
  CHECK_THAT(line.run({"status"}).err, Contains(hint));
  const auto checked = line.run({"check"});
  CHECK(checked.status == 2);
  CHECK_THAT(checked.err, Contains("torchwatch.toml:2") && !Contains("tests the configuration"));
}

TEST_CASE("lists are narrowed as those of the API are") {
  const CommandLine line;
  line.store_culprit();
  const auto has = [&](std::vector<std::string> command, const std::string& text) {
    const auto printed = line.run(std::move(command));
    CHECK(printed.status == 0);
    return printed.out.find(text) != std::string::npos;
  };
  CHECK_THAT(line.run({"bisection", "list", "--state", "named"}).err,
             Contains("\"named\" is not open or ended"));
  const std::string title = "resnet18 cpu-train time +15.0 %";
  CHECK(has({"incident", "list", "--open"}, title));
  CHECK(has({"incident", "list", "--state", "open", "--kind", "regression"}, title));
  CHECK_FALSE(has({"incident", "list", "--state", "closed"}, title));
  CHECK_FALSE(has({"incident", "list", "--kind", "leak"}, title));
  CHECK_FALSE(has({"incident", "list", "--workload", "dlrm"}, title));
  REQUIRE(line.run({"incident", "close", "1"}).status == 0);
  CHECK(has({"incident", "list", "--open"}, "No open incident."));
  CHECK(has({"comparison", "list", "--purpose", "nightly", "--limit", "1"}, "2.14.0.dev20260817"));
  CHECK(has({"comparison", "list", "--state", "cancelled"}, "No such comparison."));
  CHECK(has({"build", "list", "--state", "rejected"}, "No such build."));
  CHECK(has({"bisection", "list", "--state", "ended"}, "bed9e5a977bb"));
  CHECK(has({"request", "list", "--state", "pending", "--kind", "nightly"}, "No request."));
  const auto unknown = line.run({"incident", "list", "--state", "done"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("\"done\" is not open, acknowledged, closed or accepted"));
}

TEST_CASE("the oldest nightly is the first, and why it has no verdict is said once") {
  const CommandLine line;
  {
    const auto database = line.open();
    const auto oldest = test::ready_build(*database, "2.14.0.dev20260816");
    ComparisonStore comparisons(*database);
    const auto row = comparisons.open({.candidate = oldest}, kNow).value();
    REQUIRE(comparisons.advance(row, ComparisonState::accepted, kNow,
                                "the oldest nightly known: nothing to compare it with"));
  }
  const auto shown = line.run({"comparison", "show", "1"}).out;
  CHECK_THAT(shown, Contains("comparison 1, nightly, first\n") && !Contains("accepted"));
  CHECK(shown.find("nothing to compare it with") == shown.rfind("nothing to compare it with"));
}

TEST_CASE("an export without rows has its heading") {
  const CommandLine line;
  CHECK(Database::open({line.folder.path() / "db.sqlite", "", false}));
  CHECK_THAT(line.run({"database", "export", "verdicts"}).out,
             Catch::StartsWith("comparison,purpose,ended_at,candidate,baseline,workload"));
  CHECK_THAT(
      line.run({"database", "export", "samples"}).out,
      Catch::StartsWith("owner,owner_id,run,slot,build,") && Catch::EndsWith("sample,ns\r\n"));
  CHECK(line.run({"database", "export", "verdicts", "--format", "json-lines"}).out.empty());
}
