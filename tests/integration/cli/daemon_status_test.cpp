// What the command line says of a daemon, with one and without, and what it leaves to it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "beside_daemon.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;
using test::DaemonProcess;
using test::Place;

TEST_CASE("the status says what the daemon does, or since when none runs") {
  const Place place;
  CHECK_THAT(place.run({"status"}).out, Contains("\nNo daemon runs.\n"));
  {
    DaemonProcess daemon(place.file, place.socket());
    CHECK_THAT(place.run({"status"}).out,
               Contains("The daemon, process " + std::to_string(daemon.process()) + ", "));
    CHECK(json::parse(place.run({"status", "--json"}).out).at("daemon").at("process") ==
          daemon.process());
    daemon.end(SIGTERM);
  }
  CHECK_THAT(place.run({"status"}).out, Contains("No daemon runs; the last one stopped 20"));
  {
    DaemonProcess daemon(place.file, place.socket());
    daemon.end(SIGKILL);
  }
  CHECK_THAT(place.run({"status"}).out, Contains("was ended from outside"));
}

TEST_CASE("what waits for a daemon while none runs is not said to be measured") {
  const Place place;
  {
    const auto database = place.open(false);
    ComparisonStore comparisons(*database);
    const auto row = comparisons.open({Purpose::requested, 2, 1}, Place::kNow).value();
    REQUIRE(comparisons.advance(row, ComparisonState::ready, Place::kNow));
  }
  const auto status = place.run({"status"});
  CHECK_THAT(status.out, Contains("1 comparison waits and no daemon runs"));
  CHECK_THAT(status.out, !Contains("measuring"));
  CHECK(status.status == 0);
  CHECK(place.run({"status", "--exit-status"}).status == 3);
  CHECK_THAT(place.run({"comparison", "list"}).out, Contains("waiting"));
  CHECK(place.run({"comparison", "show", "2"}).status == 4);
}

TEST_CASE("a status that is watched ends in good order, and is text") {
  const Place place;
  std::stop_source stop;
  stop.request_stop();
  CHECK(test::run_command({"status", "--watch"}, place.file, 80, stop.get_token()).status == 0);
  const auto refused = place.run({"status", "--watch", "--json"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("leave out --json"));
  CHECK(test::run_command({"status", "--watch"}, place.folder.path() / "none.toml").status == 2);
}

TEST_CASE("scripts ask the status whether an incident is open") {
  const Place place;
  CHECK(place.run({"status", "--exit-status"}).status == 1);
  for (const auto* id : {"1", "2", "3"}) {
    REQUIRE(place.run({"incident", "close", id}).status == 0);
  }
  CHECK(place.run({"status", "--exit-status"}).status == 0);
}

TEST_CASE("a full disk is in the status, with figures, with a daemon and without one") {
  const Place place;
  place.configure_full_disk();
  const std::string figures = "less than [build] disk_reserve (1 TiB)";
  CHECK_THAT(place.run({"status"}).out, Contains(figures));
  CHECK(place.run({"status", "--exit-status"}).status == 3);
  const DaemonProcess daemon(place.file, place.socket());
  const auto beside = place.status_with(figures);
  CHECK_THAT(beside.out, Contains(figures) && Contains("The daemon, process ") &&
                             Contains("1 problem of the service"));
}

TEST_CASE("what measures on a full disk does not begin, with a daemon or without one") {
  const Place place;
  place.publish_two();
  place.configure_full_disk();
  const std::vector<std::vector<std::string>> commands{
      {"measure", "nowhere"}, {"workload", "batches"}, {"build", "fetch", "nowhere"}};
  const auto require_refused = [&](const std::vector<std::string>& command) {
    const auto printed = place.run(command);
    CHECK(printed.status == 3);
    CHECK_THAT(printed.err, Contains("less than [build] disk_reserve"));
  };
  for (const auto& command : commands) require_refused(command);
  require_refused({"compare", "left", "right"});
  const DaemonProcess daemon(place.file, place.socket());
  for (const auto& command : commands) require_refused(command);
}

TEST_CASE("the caches are tidied beside a daemon, which does it") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  const auto printed = place.run({"database", "gc"});
  CHECK(printed.err.empty());
  CHECK(printed.status == 0);
  CHECK_THAT(printed.out, Contains("before its next item of work"));
  CHECK(json::parse(place.run({"database", "gc", "--json"}).out).at("state") == "pending");
}

TEST_CASE("a token file that is missing is named by the status and by the outbox") {
  const Place place;
  const auto token = (place.folder.path() / "github-token").string();
  place.configure("[github]\nrepository = \"owner/name\"\ntoken_file = \"" + token + "\"\n");
  const DaemonProcess daemon(place.file, place.socket());
  CHECK_THAT(place.status_with("cannot open secret").out, Contains(token));
  // The status may have named it for another part of the service first.
  const auto listed = place.run_until({"outbox", "list"}, "Nothing is delivered: ").out;
  CHECK_THAT(listed, Contains("Nothing is delivered: ") && Contains(token));
}
