// Triage by the command line on a stored database: reopened, disputed, measured again.
#include "stored_command_line.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;
using test::CommandLine;
using test::kNow;

TEST_CASE("a closed incident is reopened with a comment, an open one is not") {
  const CommandLine line;
  line.store_culprit();
  CHECK(line.run({"incident", "reopen", "1", "--by", "ada"}).status == 2);
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
  CHECK(twice.status == 2);
  CHECK_THAT(twice.err, Contains("being searched by bisection 2"));
  CHECK(line.run({"bisection", "cancel", "2"}).out == "bisection 2 cancelled\n");
  CHECK(line.run({"bisection", "cancel", "2"}).status == 2);
}

TEST_CASE("an incident that names no commit cannot be disputed") {
  const CommandLine line;
  line.store_incident();
  const auto early = line.run({"incident", "dispute", "1", "--by", "ada", "--reason", "no"});
  CHECK(early.status == 2);
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
