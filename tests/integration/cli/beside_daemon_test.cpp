// The command line beside a daemon that holds the database, in a process of its own.
#include "beside_daemon.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/access/token_store.hpp"
#include "torchwatch/database/writer.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;
using test::CommandProcess;
using test::DaemonProcess;
using test::Place;
namespace fs = std::filesystem;

TEST_CASE("incidents are acknowledged, accepted and closed while the daemon runs") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  const auto acknowledged = place.run({"incident", "acknowledge", "1"});
  CHECK(acknowledged.err.empty());
  CHECK(acknowledged.status == 0);
  CHECK_THAT(acknowledged.out, Catch::StartsWith("incident 1 acknowledged by "));
  CHECK(place.incident(1).state == IncidentState::acknowledged);

  const auto accepted =
      place.run({"incident", "accept", "2", "--by", "ada", "--reason", "the price"});
  CHECK(accepted.err.empty());
  CHECK(accepted.out == "incident 2 accepted by ada\n");
  const auto incident = place.incident(2);
  REQUIRE(incident.acceptance);
  CHECK(incident.acceptance->by == "ada");
  CHECK(incident.acceptance->reason == "the price");
  CHECK(OutboxStore(*place.open(true)).of_incident(2).value().size() == 3);  // and an edit

  CHECK(place.run({"incident", "close", "3", "--by", "ada", "--reason", "mended"}).out ==
        "incident 3 closed by ada\n");
  CHECK(place.incident(3).state == IncidentState::closed);
  const auto closing = OutboxStore(*place.open(true)).of_incident(3).value().back();
  CHECK(closing.kind == OutboxKind::close);
  CHECK_THAT(closing.body, Catch::StartsWith("Closed by `ada`: `mended`"));
  CHECK(place.run({"incident", "reopen", "3", "--by", "ada"}).status == 0);
  CHECK(OutboxStore(*place.open(true)).of_incident(3).value().back().kind == OutboxKind::reopen);
}

TEST_CASE("what cannot be done to an incident fails beside a daemon as it does without one") {
  const Place place;
  const std::vector<std::vector<std::string>> wrong{
      {"incident", "close", "99"},
      {"incident", "acknowledge", "1"},
      {"incident", "accept", "1", "--by", " ", "--reason", "why"}};
  REQUIRE(place.run({"incident", "acknowledge", "1"}).status == 0);
  std::vector<test::Printed> alone;
  for (const auto& arguments : wrong) alone.push_back(place.run(arguments));
  const DaemonProcess daemon(place.file, place.socket());
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const auto beside = place.run(wrong[i]);
    CHECK(beside.status == alone[i].status);
    CHECK(beside.err == alone[i].err);
    CHECK(beside.status != 0);
  }
}

TEST_CASE("who accepts without saying a name is the user who asks") {
  const Place place;
  unsetenv("USER");
  const DaemonProcess daemon(place.file, place.socket());
  const auto accepted = place.run({"incident", "accept", "1", "--reason", "the price"});
  CHECK(accepted.out == "incident 1 accepted by " + platform::user_name(getuid()) + "\n");
  CHECK(place.incident(1).acceptance->by == platform::user_name(getuid()));
}

TEST_CASE("a token is made, listed and revoked beside a daemon as without one") {
  const Place place;
  const auto made = place.run({"token", "create", "before", "--scopes", "read,triage"});
  CHECK(made.status == 0);
  CHECK(made.out.starts_with("tw_"));
  CHECK_THAT(made.err, Contains("\"before\" (read,triage)"));
  const DaemonProcess daemon(place.file, place.socket());
  const auto beside = json::parse(place.run({"token", "create", "ci", "--json"}).out);
  CHECK(beside.at("scopes") == "read");
  CHECK_THAT(place.run({"token", "create", "ci"}).err, Contains("another token is named"));
  CHECK(place.run({"token", "revoke", "before"}).out == "token before revoked\n");
  CHECK(place.run({"token", "revoke", "before"}).status == 2);
  const auto listed = place.run({"token", "list", "--json"});
  const auto items = json::parse(listed.out).at("items");
  REQUIRE(items.size() == 2);
  CHECK(items[0].at("name") == "ci");
  CHECK(items[1].at("revoked_at").is_string());
  const auto me = "uid " + std::to_string(getuid());
  for (const auto* who : {"made_by", "revoked_by"}) CHECK(items[1].at(who) == me);
  CHECK_THAT(place.run({"token", "list"}).out, Contains(me));
  CHECK(listed.out.find(beside.at("token").get<std::string>()) == std::string::npos);
  CHECK(TokenStore(*place.open(true)).list().value()[0].scopes == Scopes{Scope::read});
}

TEST_CASE("a nightly and a bisection are handed over to the daemon that runs") {
  const Place place;
  const auto [good, bad] = place.add_source();
  place.publish_two();
  const DaemonProcess daemon(place.file, place.socket());
  const auto nightly = place.run({"nightly", "--baseline", "left", "--candidate", "right"});
  CHECK(nightly.err.empty());
  CHECK(nightly.status == 0);
  CHECK_THAT(nightly.out, Contains("request 1") && Contains("torchwatch request list"));
  const auto bisection = place.run({"bisect", good, bad, "--workload", "resnet18", "--json"});
  CHECK(bisection.err.empty());
  CHECK(bisection.status == 0);
  const auto taken = json::parse(bisection.out);
  CHECK(taken.at("schema") == 1);
  CHECK(taken.at("request") == 2);
  CHECK(taken.at("url") == "/api/v1/requests/2");
  const auto stored = RequestStore(*place.open(true)).get(2).value();
  CHECK(json::parse(stored.body_json) ==
        json{{"good", good}, {"bad", bad}, {"workloads", json::array({"resnet18"})}});
  CHECK(place.run({"bisect"}).status == 2);
}

TEST_CASE("commands that only read work beside a daemon") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"status"}, {"incident", "list"}, {"incident", "show", "1"}, {"build", "list"}}) {
    INFO(command.front());
    const auto printed = place.run(command);
    CHECK(printed.err.empty());
    CHECK(printed.status == 0);
  }
  CHECK(place.run({"workload", "list"}).status == 0);
}

TEST_CASE("a daemon whose control socket was removed is named, with what to do") {
  const Place place;
  place.publish_two();
  const DaemonProcess daemon(place.file, place.socket());
  REQUIRE(std::filesystem::remove(place.socket()));
  const auto told = "process " + std::to_string(daemon.process()) +
                    " has the database and no control socket at " + place.socket().string() +
                    ": it is starting, or the file was removed";
  const auto status = json::parse(place.run({"status", "--json"}).out);
  CHECK(status.at("daemon").at("not_asked").get<std::string>().starts_with(told));
  CHECK_THAT(place.run({"status"}).out, !Contains("No daemon runs"));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"incident", "acknowledge", "1"}, {"compare", "left", "right"}}) {
    const auto printed = place.run(command);
    CHECK(printed.status == 3);
    CHECK_THAT(printed.err, Contains(told));
  }
}

TEST_CASE("no build is touched before the machine is free: making one disturbs who measures") {
  const Place place;
  place.publish_two();  // looked at, they are found to be damaged
  const auto held = executor::MachineLock::acquire(place.folder.path().filename().string()).value();
  std::stop_source stop;
  stop.request_stop();
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"compare", "left", "right"},
                                             {"measure", "left"},
                                             {"workload", "batches", "--build", "left"},
                                             {"workload", "list", "--count", "--build", "left"}}) {
    INFO(command.front());
    const auto printed =
        test::run_command(command, place.file, terminal::kColumnsMax, stop.get_token());
    CHECK_THAT(printed.err, Contains("waiting: process") && Contains("is measuring on this") &&
                                Contains("interrupted; every run that has ended is kept"));
  }
}

TEST_CASE("commands that measure get as far beside a daemon as without one") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  // The stored builds are not there: the commands end where they look for one, not at the database.
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"workload", "list", "--count"}, {"workload", "batches"}, {"measure", "nowhere"}}) {
    INFO(command.front());
    const auto printed = place.run(command);
    CHECK(printed.status == 2);
    CHECK_THAT(printed.err, Contains("build"));
    CHECK_THAT(printed.err, !Contains("is written by process"));
  }
}

TEST_CASE("what two builds have between them cannot be measured of one") {
  const Place place;
  const auto printed = place.run({"measure", "left", "--metric", "output_difference"});
  CHECK(printed.status == 2);
  CHECK_THAT(printed.err, Contains("compare BASELINE CANDIDATE --metric output_difference"));
}

TEST_CASE("nightly beside a daemon with nothing due says so, and asks for nothing") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  const auto printed = place.run({"nightly"});
  CHECK(printed.status == 0);
  CHECK_THAT(printed.out, Contains("Nothing is due: every nightly has its verdict"));
  CHECK(json::parse(place.run({"nightly", "--json"}).out).at("comparisons").empty());
  CHECK(RequestStore(*place.open(true)).list(10).value().empty());
}

TEST_CASE("a comparison is handed over with what was selected, before nightlies if asked") {
  const Place place;
  place.publish_two();
  const DaemonProcess daemon(place.file, place.socket());
  const auto compared = place.run({"compare", "left", "right", "--workload", "resnet18", "--mode",
                                   "train", "--metric", "time", "--now", "--json"});
  CHECK(compared.err.empty());
  CHECK(compared.status == 0);
  const auto stored = RequestStore(*place.open(true)).get(1).value();
  CHECK(json::parse(stored.body_json) == json{{"baseline", "left"},
                                              {"candidate", "right"},
                                              {"configurations", {"cpu-train"}},
                                              {"metrics", {"time"}},
                                              {"now", true},
                                              {"opens_incidents", false},
                                              {"workloads", {"resnet18"}}});
  CHECK(place.run({"compare", "left", "right", "--mode", "sleep"}).status == 2);
  const auto typo = place.run({"compare", "left", "right", "--workload", "tts_anglar"});
  CHECK(typo.status == 2);
  CHECK_THAT(typo.err, Contains("tts_angular"));
}

TEST_CASE("what can never be carried out is refused at once beside a daemon as without one") {
  const Place place;
  place.publish_two();
  REQUIRE(place.add_source().first.size() == 40);
  const std::vector<std::vector<std::string>> wrong{
      {"nightly", "--baseline", "left", "--candidate", "rigth"},
      {"compare", "left", "rigth"},
      {"compare", "left", place.folder.path().string()},
      {"bisect", "left", "rigth"},
      {"compare", "left", "right", "--metric", "device_time", "--configuration", "cpu-train"}};
  std::vector<test::Printed> alone;
  for (const auto& arguments : wrong) alone.push_back(place.run(arguments));
  const DaemonProcess daemon(place.file, place.socket());
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const auto beside = place.run(wrong[i]);
    CHECK(beside.status == 2);
    CHECK(beside.err == alone[i].err);
    CHECK(alone[i].status == 2);
  }
  CHECK_THAT(alone[1].err, Contains("unknown build \"rigth\"") && Contains("did you mean right"));
  CHECK(RequestStore(*place.open(true)).list(10).value().empty());
}

TEST_CASE("a typo is found also where there is no database that can be opened") {
  const Place place;
  place.publish_two();
  std::ofstream(place.state / "db.sqlite", std::ios::trunc) << "no database";
  const auto typo = place.run({"compare", "left", "rigth"});
  CHECK(typo.status == 2);
  CHECK_THAT(typo.err, Contains("unknown build \"rigth\""));
}

TEST_CASE("incidents are reopened and measured again while the daemon runs") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  REQUIRE(place.run({"incident", "close", "1"}).status == 0);
  CHECK(place.run({"incident", "reopen", "1", "--by", "ada"}).out ==
        "incident 1 reopened by ada\n");
  CHECK(place.incident(1).state == IncidentState::open);
  const auto dispute = place.run({"incident", "dispute", "2", "--by", "ada", "--reason", "no"});
  CHECK(dispute.status == 2);
  CHECK_THAT(dispute.err, Contains("names no commit"));
  CHECK_THAT(place.run({"incident", "retest", "2"}).out,
             Contains("incident 2 is due to be measured again, by comparison 2"));
}

TEST_CASE("triage works beside a command that works on the database, and long work waits for it") {
  const Place place;
  place.publish_two();
  const auto held = executor::MachineLock::acquire(place.folder.path().filename().string()).value();
  CommandProcess nightly("nightly", place.file);  // waits for the machine
  const auto named = "process " + std::to_string(nightly.process()) + " (";
  nightly.wait_until([&] { return writer_of(place.state / "db.sqlite").has_value(); });
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"token", "create", "ci"},
                                             {"incident", "acknowledge", "1"},
                                             {"incident", "close", "2", "--reason", "mended"},
                                             {"outbox", "retry", "open-a"},
                                             {"incident", "retest", "1"},
                                             {"comparison", "cancel", "2"},
                                             {"token", "revoke", "ci"}}) {
    INFO(command[0] << " " << command[1]);
    const auto printed = place.run(command);
    CHECK(printed.status == 0);
    CHECK_THAT(printed.err, !Contains("is written by process"));
  }
  CHECK(place.incident(2).state == IncidentState::closed);

  std::stop_source stop;
  stop.request_stop();
  const auto compared = test::run_command({"compare", "left", "right"}, place.file,
                                          terminal::kColumnsMax, stop.get_token());
  CHECK_THAT(compared.err, Contains("waiting: " + named) &&
                               Contains("works on this database; this begins as soon as it has"));
  const auto measured =
      test::run_command({"measure", "left"}, place.file, terminal::kColumnsMax, stop.get_token());
  CHECK_THAT(measured.err, Contains("is measuring on this"));
  const auto served = place.run({"serve"});
  CHECK(served.status == 3);
  CHECK_THAT(served.err, Contains(named) && Contains("try again when it has ended") &&
                             !Contains("stop that one"));
  nightly.end(SIGKILL);
  CHECK(place.open(false)->check_invariants().value().empty());
}

TEST_CASE("a second daemon says whom to stop") {
  const Place place;
  const DaemonProcess daemon(place.file, place.socket());
  const auto served = place.run({"serve"});
  CHECK(served.status == 3);
  CHECK_THAT(served.err, Contains("is that of another daemon, process " +
                                  std::to_string(daemon.process()) + "; stop that one"));
}

TEST_CASE(
    "a daemon that was killed leaves a socket that hinders neither commands nor the next one") {
  const Place place;
  {
    DaemonProcess daemon(place.file, place.socket());
    daemon.end(SIGKILL);
  }
  CHECK(fs::is_socket(place.socket()));
  CHECK(place.run({"incident", "acknowledge", "1"}).status == 0);
  DaemonProcess next(place.file, place.socket());
  CHECK(place.run({"incident", "close", "1"}).status == 0);
  const int status = next.end(SIGTERM);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(fs::exists(place.socket()));
  CHECK(place.run({"incident", "close", "2"}).status == 0);
}

TEST_CASE("a database in a folder with a long path is reached as well") {
  const Place place(std::string(90, 'a') + "/" + std::string(90, 'b'));
  const DaemonProcess daemon(place.file, place.socket());
  CHECK_THAT(place.run({"incident", "close", "1"}).out, Catch::StartsWith("incident 1 closed by "));
}

TEST_CASE("a daemon ends in good order by each signal that asks it to, also by a closed terminal") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(signal);
    const Place place;
    DaemonProcess daemon(place.file, place.state / "control");
    REQUIRE(kill(daemon.process(), SIGUSR1) == 0);  // logs what it does, and ends nothing
    CHECK(daemon.end(signal) == 0);
  }
}
