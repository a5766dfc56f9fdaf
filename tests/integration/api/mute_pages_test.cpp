// Mutes and what people did to an issue, on the pages, and how a person lifts a mute there.
#include <catch2/catch.hpp>

#include "browser.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

constexpr WallMillis kDay = 86'400'000;

struct MutedPages : Api {
  MutedPages() {
    fill();
    const auto incident = IncidentStore(*database).get(1).value();
    series = incident.series.front().series;
    const auto now = clock.wall_now();
    REQUIRE(MuteStore(*database).add({.target = series.benchmark.workload,
                                      .until = now + kDay,
                                      .made_by = "ada",
                                      .reason = "known <b>upstream</b>",
                                      .asked_by = "github ada",
                                      .made_at = now}));
    REQUIRE(ConversationStore(*database).add_event({.id = 7,
                                                    .incident = 1,
                                                    .event = "renamed",
                                                    .login = "bea",
                                                    .detail = "a <private> title",
                                                    .happened_at = now}));
  }
  std::string page_of_series() {
    return page("/series/" + series.benchmark.workload + "/" +
                to_string(series.benchmark.configuration) + "/" +
                to_string(series.benchmark.variant) + "/" + std::string(to_string(series.metric)));
  }
  bool is_muted() { return !MuteStore(*database).active(clock.wall_now()).value().empty(); }

  Series series;
};

}  // namespace

TEST_CASE("the pages of an incident and of its series say that it is muted, and by whom") {
  MutedPages api;
  for (const auto& html : {api.page("/incidents/1"), api.page_of_series()}) {
    CHECK_THAT(html, Contains("mutes/1\">Mute 1</a>") && Contains("by ada: known &lt;b&gt;"));
    CHECK_THAT(html, !Contains("<b>upstream"));
  }
  CHECK_THAT(api.page("/mutes"), Contains(api.series.benchmark.workload) && Contains("ada"));
  CHECK_THAT(api.page("/mutes/1"), Contains("known &lt;b&gt;"));
  CHECK_THAT(api.get("/mutes/1.csv").text, Contains("until") && Contains("known <b>upstream</b>"));
  CHECK(api.get("/mutes/99").status == 404);
  CHECK(api.get("/mutes/1.json").body == api.get("/api/v1/mutes").body.at("mutes").at(0));
  CHECK(api.get("/api/v1/mutes/99").status == 404);
  api.clock.advance(std::chrono::hours(25));
  CHECK_THAT(api.page("/incidents/1"), !Contains("Mute 1"));
  CHECK_THAT(api.page("/mutes/1"), Contains("(over)"));
}

TEST_CASE("a person who may triage lifts a mute by a form, once") {
  MutedPages api;
  Browser browser(api);
  CHECK_THAT(browser.get("/mutes/1").text, Contains("Sign in</a>"));
  REQUIRE(browser.sign_in(kTriagerToken).status == 303);
  CHECK_THAT(browser.get("/incidents/1").text,
             Contains("formaction=\"../mutes/1/lift\">Lift the mute</button>"));
  const auto lifted = browser.post("/mutes/1/lift", {});
  CHECK(lifted.status == 303);
  CHECK(lifted.headers.at("location") == "../1");
  CHECK_FALSE(api.is_muted());
  const auto after = browser.get("/mutes/1").text;
  CHECK_THAT(after, Contains("It is lifted.") && Contains("(over)") && !Contains("Lift the mute"));
  CHECK(browser.post("/mutes/1/lift", {}).status == 409);
}

TEST_CASE("a mute is lifted over HTTP by who may triage") {
  MutedPages api;
  CHECK(api.post("/api/v1/mutes/1/lift", "{}", {{"Authorization", ""}}).status == 401);
  CHECK(api.post("/api/v1/mutes/99/lift", "{}").status == 404);
  const auto lifted = api.post("/api/v1/mutes/1/lift", "{}");
  CHECK(lifted.status == 200);
  CHECK(lifted.body.at("state") == "lifted");
  CHECK(api.post("/api/v1/mutes/1/lift", "{}").status == 409);
  CHECK(api.get("/api/v1/mutes").body.at("mutes").at(0).at("active") == false);
}

TEST_CASE("an incident's page lists what people did to its issue, and strangers see no titles") {
  MutedPages api;
  const auto trusted = api.page("/incidents/1");
  CHECK_THAT(trusted, Contains("What was done to the issue") && Contains("renamed by bea on ") &&
                          Contains("a &lt;private&gt; title"));
  Browser stranger(api);
  const auto shown = stranger.get("/incidents/1").text;
  CHECK_THAT(shown, Contains("renamed by bea on ") && !Contains("private&gt; title"));
}

TEST_CASE("a title of the tracker is not for strangers, in no form of an incident") {
  MutedPages api;
  for (const std::string path :
       {"/api/v1/incidents/1", "/incidents/1.json", "/incidents/1", "/incidents/1.md"}) {
    INFO(path);
    const auto seen = api.send("GET", path, "", {{"X-Forwarded-For", "198.51.100.1"}});
    CHECK(seen.status == 200);
    CHECK_THAT(seen.text, !Contains("private"));
  }
  CHECK(api.get("/api/v1/incidents/1").body.at("issue_events").at(0).at("detail") ==
        "a <private> title");
}
