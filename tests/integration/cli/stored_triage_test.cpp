// Triage by the command line on a stored database: reopened, disputed, measured again.
#include <unistd.h>

#include "stored_command_line.hpp"
#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/platform/user.hpp"

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
  CHECK_THAT(line.run({"incident", "dispute", "1", "--by", "ada", "--reason", "no"}).err,
             Contains("incident 1 is accepted and cannot be disputed"));
  CHECK(line.run({"incident", "reopen", "1", "--by", "ada"}).out == "incident 1 reopened by ada\n");
  const auto database = line.open();
  const auto incident = IncidentStore(*database).get(1).value();
  CHECK(incident.state == IncidentState::open);
  CHECK_FALSE(incident.acceptance);
  const auto messages = OutboxStore(*database).of_incident(1).value();
  CHECK(messages.back().kind == OutboxKind::reopen);
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
    CHECK_THAT(OutboxStore(*database).of_incident(1).value().back().body,
               Contains("it changes a test only"));
  }
  CHECK_THAT(line.run({"bisection", "list"}).out, Contains("1 was disputed."));
  CHECK_THAT(line.run({"bisection", "show", "2"}).out,
             Contains("ada disputes what it named: it changes a test only"));
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("Commit bed9e5a977bb, which was named first, was disputed by ada on") &&
                 Contains("The second search has not ended."));
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
  CHECK_THAT(line.run({"incident", "retest", "1"}).out, Contains("due to be measured again"));
  CHECK_THAT(line.run({"incident", "retest", "1"}).out, Contains("due already"));
  const auto row = ComparisonStore(*line.open()).get(2).value();
  CHECK(row.purpose == Purpose::recheck);
  CHECK(row.incident == 1);
  CHECK(row.baseline == 1);
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("Measured again, newest first:\n"
                      "  2.14.0.dev20260817 (comparison 2): not measured yet\n"));
  REQUIRE(line.run({"comparison", "cancel", "2"}).status == 0);
  const auto shown = json::parse(line.run({"incident", "show", "1", "--json"}).out);
  CHECK(shown.at("rechecks").at(0).at("comparison") == 2);
  CHECK(shown.at("rechecks").at(0).at("outcome") == "none");
}

TEST_CASE("an incident says who decided what about it, when and why") {
  const CommandLine line;
  line.store_culprit();
  REQUIRE(line.run({"incident", "acknowledge", "1", "--by", "ada"}).status == 0);
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("Incident 1, regression, acknowledged by ada (uid ") &&
                 !Contains("What was decided"));
  REQUIRE(line.run({"incident", "close", "1", "--by", "bob", "--reason", "mended"}).status == 0);
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("Incident 1, regression, closed by bob (uid ") && Contains("UTC: mended") &&
                 Contains("What was decided:\n  acknowledged by ada (uid "));
  const auto shown = json::parse(line.run({"incident", "show", "1", "--json"}).out);
  REQUIRE(shown.at("decisions").size() == 2);
  CHECK(shown.at("decisions").at(1).at("by") == "bob");
}

TEST_CASE("whoever a decision is said to be by, who really asked is stored and shown") {
  const CommandLine line;
  line.store_culprit();
  const auto me = "uid " + std::to_string(getuid());
  REQUIRE(line.run({"incident", "acknowledge", "1", "--by", "somebody-else"}).status == 0);
  CHECK_THAT(line.run({"incident", "show", "1"}).out,
             Contains("acknowledged by somebody-else (" + me + ") on "));
  const auto shown = json::parse(line.run({"incident", "show", "1", "--json"}).out);
  CHECK(shown.at("decisions").at(0).at("by") == "somebody-else");
  CHECK(shown.at("decisions").at(0).at("asked_by") == me);
  REQUIRE(line.run({"incident", "retest", "1"}).status == 0);
  REQUIRE(line.run({"comparison", "cancel", "2"}).status == 0);
  REQUIRE(line.run({"comparison", "retry", "2"}).status == 0);
  REQUIRE(line.run({"outbox", "retry", "open:abc"}).status == 0);
  const auto audit = AuditStore(*line.open()).list(10).value();
  REQUIRE(audit.size() == 5);
  CHECK(audit[0].item == "open:abc");
  CHECK(audit[1].path == "/api/v1/comparisons/2/retry");
  for (const auto& row : audit) CHECK(row.asked_by == me);
}

TEST_CASE("the text of an issue that is not written yet is shown as it would be now") {
  const CommandLine line;
  line.store_incident();
  {
    const auto database = line.open();
    VerdictRow verdict;
    verdict.comparison = 1;
    verdict.series = CommandLine::kSeries;
    verdict.verdict = Verdict::regressed;
    verdict.ratio = 1.15;
    verdict.baseline_value = 2e6;
    verdict.candidate_value = 2.3e6;
    REQUIRE(ComparisonStore(*database).add_verdict(verdict));
    IncidentRow row;
    row.comparison = 1;
    row.key = "time-cpu:other";
    row.series = {incident_series(verdict)};
    row.opened_at = kNow;
    REQUIRE(IncidentStore(*database).open(row).value().id == 2);
  }
  const auto shown = line.run({"incident", "show", "2", "--format", "markdown"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, Contains("# [perf] +15 % time: resnet18, cpu-train") &&
                            Contains("### What got worse"));
  CHECK_THAT(shown.err, Contains("no issue yet"));
}

TEST_CASE("requests say what was asked for and who asked") {
  const CommandLine line;
  {
    const auto database = line.open();
    RequestStore requests(*database);
    const auto ask = [&](RequestKind kind, const json& body, const Asker& asker) {
      REQUIRE(requests.receive(body.dump(), kind, body.dump(), kNow, asker));
    };
    ask(RequestKind::nightly, json::object(), {.token = "ci"});
    ask(RequestKind::nightly,
        {{"baseline", "left"}, {"candidate", "right"}, {"workloads", {"dlrm"}}, {"now", true}},
        {.user = getuid()});
    ask(RequestKind::bisection, {{"suspect", "bed9e5a977bb93dcaf61"}, {"device", "cpu"}}, {});
    ask(RequestKind::bisection, {{"good", "v1"}, {"bad", "v2"}}, {});
  }
  const auto listed = line.run({"request", "list"}).out;
  CHECK_THAT(listed, Contains("every nightly that is due") && Contains("ci"));
  CHECK_THAT(listed, Contains("right against left, dlrm, now"));
  CHECK_THAT(listed, Contains("bed9e5a977bb against its parent, cpu"));
  CHECK_THAT(listed, Contains("v1 to v2"));
  const auto items = json::parse(line.run({"request", "list", "--json"}).out).at("items");
  CHECK(items.at(3).at("asked_by") == "ci");
  CHECK(items.at(2).at("asked_by") == platform::user_name(getuid()));
  CHECK(items.at(0).at("asked_by").is_null());
}

TEST_CASE("a comparison that is under way has no conclusion yet, or the regression that it found") {
  const CommandLine line;
  line.store_incident();
  {
    const auto database = line.open();
    const auto nightly = ComparisonStore(*database).get(1).value();
    REQUIRE(ComparisonStore(*database).open(
        {Purpose::requested, nightly.candidate, nightly.baseline}, kNow));
  }
  CHECK(line.run({"comparison", "show", "1"}).status == 1);
  CHECK(line.run({"comparison", "show", "2"}).status == 4);
}
