// What people do to an issue becomes a decision, once, by whatever way it is heard of.
#include <catch2/catch.hpp>

#include "talk.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/triage/decisions.hpp"

using namespace torchwatch;
using storage::DecisionKind;
using storage::IncidentState;

namespace {

using std::chrono::minutes;

/// Messages that are to be sent about the incident, and were not.
std::size_t unsent(Talk& talk) {
  return storage::OutboxStore(talk.database()).unsent().value().size();
}

}  // namespace

TEST_CASE("an issue that a person closes as completed closes its incident, and nothing is echoed") {
  Talk talk;
  talk.hear(talk.github.people.close("ada", 1, "completed"));
  CHECK(talk.incident().state == IncidentState::closed);
  CHECK(talk.newest_decision() == "closed by ada (github ada): closed as completed on GitHub");
  CHECK(unsent(talk) == 0);
  CHECK(talk.github.issue(1).comments.empty());
  talk.hear(talk.github.people.reopen("bea", 1));
  CHECK(talk.incident().state == IncidentState::open);
  CHECK(talk.newest_decision() == "reopened by bea (github bea): reopened on GitHub");
}

TEST_CASE(
    "an issue closed as not planned accepts the change, with the closer's last comment as why") {
  Talk talk;
  talk.hook(talk.github.people.comment("ada", 1, "First."));
  talk.hook(talk.github.people.comment("ada", 1,
                                       "The price of a fix.\r\nSee <!-- torchwatch --> there."));
  talk.hook(talk.github.people.comment("bea", 1, "A pity."));
  talk.hear(talk.github.people.close("ada", 1, "not_planned"));
  const auto row = talk.incident();
  CHECK(row.state == IncidentState::closed);
  REQUIRE(row.acceptance);
  CHECK(row.acceptance->by == "ada");
  CHECK_THAT(row.acceptance->reason, Catch::StartsWith("The price of a fix.  See <"));
  CHECK(row.acceptance->reason.find("<!--") == std::string::npos);
  CHECK(talk.github.issue(1).state_reason == "not_planned");
}

TEST_CASE("a change is accepted without a comment, too") {
  Talk talk;
  talk.hear(talk.github.people.close("ada", 1, "not_planned"));
  CHECK(talk.newest_decision() ==
        "accepted by ada (github ada): closed as not planned on GitHub, without a comment");
}

TEST_CASE("a duplicate is acknowledged, with where it is one of") {
  Talk talk;
  talk.hook(talk.github.people.comment("bea", 1, "Duplicate of #17"));
  talk.hear(talk.github.people.close("bea", 1, "duplicate"));
  CHECK(talk.incident().state == IncidentState::acknowledged);
  CHECK(talk.newest_decision() ==
        "acknowledged by bea (github bea): closed as a duplicate: Duplicate of #17");
}

TEST_CASE("an issue that is deleted or moved is acknowledged, and nothing is filed there again") {
  for (const bool is_moved : {false, true}) {
    Talk talk;
    talk.hear(is_moved ? talk.github.people.transfer("ada", 1, "owner/other#5")
                       : talk.github.people.remove("ada", 1));
    CHECK(talk.incident().state == IncidentState::acknowledged);
    CHECK_THAT(talk.newest_decision(),
               Catch::Contains(is_moved ? "moved to https://github.com/owner/other/issues/5"
                                        : "issue 1 was deleted"));
    const auto before = talk.github.requests().size();
    REQUIRE(triage::decide_incident(talk.services(), 1, DecisionKind::reopened, {"ada", ""}));
    storage::OutboxRow message;
    message.key = "recurrence";
    message.incident = 1;
    message.kind = storage::OutboxKind::comment;
    message.body = "Still there.";
    REQUIRE(storage::OutboxStore(talk.database()).queue(message));
    CHECK(unsent(talk) == 0);
    talk.deliver();
    CHECK(talk.github.requests().size() == before);
  }
}

TEST_CASE("a token that sees the repository no more deletes no issue") {
  Talk talk;
  CHECK(talk.hook(talk.github.people.label("ada", 1, "perf")) == 202);
  talk.github.hide_repository();
  CHECK_FALSE(talk.work().empty());
  CHECK(talk.incident().state == IncidentState::open);
  talk.github.hide_repository(false);
  talk.pass(minutes(31));
  CHECK(talk.work().empty());
  CHECK(talk.incident().state == IncidentState::open);
}

TEST_CASE("what we ourselves and programs do is kept, and decides nothing") {
  Talk talk;
  talk.hear(talk.github.people.close("torchwatch-account", 1, "completed"));
  talk.hear(talk.github.people.reopen("helpful[bot]", 1));
  talk.hear(talk.github.people.close("helpful[bot]", 1, "not_planned"));
  CHECK(talk.incident().state == IncidentState::open);
  CHECK(talk.decisions() == 0);
  CHECK(storage::ConversationStore(talk.database()).events_of(1).value().size() == 3);
}

TEST_CASE("labels and titles that people give are kept with who gave them") {
  Talk talk;
  talk.hear(talk.github.people.label("ada", 1, "oncall: perf"));
  talk.hear(talk.github.people.rename("bea", 1, "dlrm got slower"));
  const auto events = storage::ConversationStore(talk.database()).events_of(1).value();
  REQUIRE(events.size() == 2);
  CHECK(events[0].event == "labeled");
  CHECK(events[0].login == "ada");
  CHECK(events[0].detail == "oncall: perf");
  CHECK(events[1].event == "renamed");
  CHECK(events[1].detail == "dlrm got slower");
  CHECK(talk.decisions() == 0);
}

TEST_CASE("a change that webhook and polling tell of is one decision, in either order") {
  for (const bool webhook_first : {true, false}) {
    Talk talk;
    CHECK(talk.work().empty());  // polling begins
    talk.pass(minutes(1));
    const auto delivery = talk.github.people.close("ada", 1, "completed");
    if (webhook_first) talk.hear(delivery);
    talk.pass(minutes(10));
    CHECK(talk.work().empty());
    CHECK(talk.incident().state == IncidentState::closed);
    if (!webhook_first) talk.hear(delivery);
    for (int i = 0; i < 3; ++i) {
      talk.pass(minutes(10));
      talk.hear(delivery);
    }
    CHECK(talk.decisions() == 1);
  }
}

TEST_CASE("polling alone sees what happens, and asks for nothing that did not change") {
  Talk talk;
  CHECK(talk.work().empty());
  talk.pass(minutes(10));
  talk.github.people.close("ada", 1, "completed");
  talk.pass(minutes(10));
  CHECK(talk.work().empty());
  CHECK(talk.incident().state == IncidentState::closed);
  talk.pass(minutes(10));
  CHECK(talk.work().empty());
  talk.pass(minutes(10));
  const auto before = talk.github.requests().size();
  CHECK(talk.work().empty());
  // The two lists, unchanged; nothing about the issue.
  CHECK(talk.github.requests().size() == before + 2);
  CHECK(talk.decisions() == 1);
}

TEST_CASE("a closing that was undone before it was read leaves the incident open") {
  Talk talk;
  CHECK(talk.hook(talk.github.people.close("ada", 1, "not_planned")) == 202);
  talk.hear(talk.github.people.reopen("ada", 1));
  CHECK(talk.incident().state == IncidentState::open);
  CHECK(talk.decisions() == 2);
}

TEST_CASE("a change that the list does not show yet is waited for") {
  Talk talk;
  const auto delivery = talk.github.people.close("ada", 1, "completed");
  talk.github.set_fault(
      [](const platform::HttpRequest& request) -> std::optional<Result<platform::HttpResponse>> {
        if (request.url.find("/events") == std::string::npos) return std::nullopt;
        return platform::HttpResponse{.status = 200, .headers = {}, .body = "[]"};
      });
  CHECK(talk.hook(delivery) == 202);
  CHECK_THAT(talk.work(), Catch::Contains("does not list yet"));
  CHECK(talk.incident().state == IncidentState::open);
  talk.github.set_fault({});
  talk.pass(minutes(2));
  CHECK(talk.work().empty());
  CHECK(talk.incident().state == IncidentState::closed);
}
