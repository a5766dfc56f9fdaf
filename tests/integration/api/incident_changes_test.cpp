// What people do to incidents over HTTP: over the port with the token, over the socket without.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using nlohmann::json;

namespace {

const std::string kIncident = "/api/v1/incidents/1";

}  // namespace

TEST_CASE("an incident is acknowledged, then closed, with the token over the port") {
  Api api;
  api.fill();
  const auto acknowledged = api.post(kIncident + "/acknowledge", "{}");
  CHECK(acknowledged.status == 200);
  CHECK(acknowledged.body.at("state") == "acknowledged");
  const auto closed = api.post(kIncident + "/close", "{}");
  CHECK(closed.status == 200);
  CHECK(closed.body.at("state") == "closed");
  CHECK(closed.body.at("acceptance").is_null());
  CHECK(api.get(kIncident).body.at("state") == "closed");
}

TEST_CASE("an accepted incident is closed with who and why, and the daemon is woken") {
  Api api;
  api.fill();
  const auto accepted =
      api.post(kIncident + "/accept", R"({"by": "Ada Lovelace", "reason": "the price\nof a fix"})");
  CHECK(accepted.status == 200);
  CHECK(accepted.body.at("state") == "closed");
  CHECK(accepted.body.at("acceptance").at("by") == "Ada Lovelace");
  CHECK(accepted.body.at("acceptance").at("reason") == "the price\nof a fix");
  CHECK(api.woken == 1);
}

TEST_CASE("over the socket no token is needed, and the user who asks is who accepts") {
  Api api;
  api.fill();
  CHECK(api.post_locally(kIncident + "/acknowledge", "{}").status == 200);
  const auto without_reason = api.post_locally(kIncident + "/accept", "{}");
  CHECK(without_reason.status == 400);
  CHECK_THAT(without_reason.body.dump(), Catch::Contains("on the command line --reason"));
  const auto accepted = api.post_locally(kIncident + "/accept", R"({"reason": "the price"})");
  CHECK(accepted.status == 200);
  CHECK(accepted.body.at("acceptance").at("by") == platform::user_name(getuid()));
  const auto other = std::to_string(api.add_incident("other"));
  const auto named = api.post_locally("/api/v1/incidents/" + other + "/accept",
                                      R"({"by": "ada", "reason": "the price"})");
  CHECK(named.body.at("acceptance").at("by") == "ada");
  CHECK(api.post_locally("/api/v1/nightlies", "{}").status == 202);
}

TEST_CASE("over the port an incident is changed not without the token") {
  Api api;
  api.fill();
  for (const auto* action : {"/acknowledge", "/accept", "/close"}) {
    INFO(action);
    CHECK(api.post(kIncident + action, "{}", {{"Authorization", ""}}).status == 401);
  }
  CHECK(api.get(kIncident).body.at("state") == "open");
}

TEST_CASE("an unknown incident is 404, one that is in another state 409, as a problem") {
  Api api;
  api.fill();
  const auto unknown = api.post("/api/v1/incidents/99/close", "{}");
  CHECK(unknown.status == 404);
  CHECK(unknown.body.at("detail") == "incident 99 is not stored");
  REQUIRE(api.post(kIncident + "/close", "{}").status == 200);
  for (const auto* action : {"/acknowledge", "/close"}) {
    const auto late = api.post(kIncident + action, "{}");
    INFO(action);
    CHECK(late.status == 409);
    CHECK(late.headers.at("content-type") == "application/problem+json");
  }
  CHECK(api.post(kIncident + "/accept", R"({"by": "ada", "reason": "why"})").status == 409);
}

TEST_CASE("a change that is repeated with its Idempotency-Key is answered again") {
  Api api;
  api.fill();
  const Api::Headers key{{"Idempotency-Key", "triage-1"}};
  const std::string accept = R"({"by": "ada", "reason": "the price"})";
  CHECK(api.post(kIncident + "/acknowledge", "{}", key).status == 200);
  CHECK(api.post(kIncident + "/acknowledge", "{}", key).status == 200);
  CHECK(api.post(kIncident + "/acknowledge", "{}").status == 409);
  const auto first = api.post(kIncident + "/accept", accept, key);
  api.clock.advance(std::chrono::minutes(1));
  const auto again = api.post(kIncident + "/accept", accept, key);
  CHECK(again.status == 200);
  CHECK(again.body == first.body);
  const auto other =
      api.post(kIncident + "/accept", R"({"by": "bob", "reason": "the price"})", key);
  CHECK(other.status == 409);
  CHECK(api.post(kIncident + "/close", "{}", key).status == 409);
  CHECK(api.post(kIncident + "/acknowledge", "{}", {{"Idempotency-Key", "no key"}}).status == 400);
}

TEST_CASE("each decision is answered with the incident, with who made it and why") {
  Api api;
  api.fill();
  REQUIRE(api.post(kIncident + "/acknowledge", R"({"by": "ada"})").status == 200);
  REQUIRE(api.post(kIncident + "/close", R"({"by": "bob", "reason": "mended"})").status == 200);
  REQUIRE(api.post(kIncident + "/reopen", R"({"reason": "it is not"})").status == 200);
  CHECK(api.woken == 3);
  const auto decisions = api.get(kIncident).body.at("decisions");
  REQUIRE(decisions.size() == 3);
  CHECK(decisions[0].at("kind") == "acknowledged");
  CHECK(decisions[0].at("by") == "ada");
  CHECK(decisions[0].at("reason").is_null());
  CHECK(decisions[1].at("by") == "bob");
  CHECK(decisions[1].at("reason") == "mended");
  CHECK(decisions[2].at("kind") == "reopened");
  CHECK(decisions[2].at("by") == "a test");
}

TEST_CASE("whoever a body says decides, who really asked is kept, and no stranger sees it") {
  Api api;
  api.fill();
  const std::string by = R"({"by": "somebody else"})";
  REQUIRE(api.post_locally(kIncident + "/acknowledge", by).status == 200);
  REQUIRE(api.post(kIncident + "/close", by).status == 200);
  const auto decisions = api.get(kIncident).body.at("decisions");
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].at("by") == "somebody else");
  CHECK(decisions[0].at("asked_by") == "uid " + std::to_string(getuid()));
  CHECK(decisions[1].at("asked_by") == "token a test");
  const Api::Headers stranger{{"X-Forwarded-For", "198.51.100.1"}};
  CHECK(api.send("GET", kIncident, "", stranger).body.at("decisions")[1].at("asked_by").is_null());
  CHECK_THAT(api.page("/incidents/1"), Catch::Contains("(token a test)"));
  const auto page = api.send("GET", "/incidents/1", "", stranger).text;
  CHECK_THAT(page, Catch::Contains("by somebody else on ") && !Catch::Contains("a test)"));
}

TEST_CASE("every change that was made is listed with who asked, a refused one is not") {
  Api api;
  api.fill();
  REQUIRE(api.post("/api/v1/outbox/retry", R"({"key": "open:abc"})").status == 200);
  REQUIRE(api.post("/api/v1/incidents/99/close", "{}").status == 404);
  REQUIRE(api.post_locally(kIncident + "/retest", "{}").status == 200);
  REQUIRE(api.post("/api/v1/comparisons/1/cancel", "{}").status == 200);
  CHECK(api.get("/api/v1/comparisons/1").body.at("reason") == "by token a test");
  const auto changes = api.get("/api/v1/audit").body.at("changes");
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].at("path") == "/api/v1/comparisons/1/cancel");
  CHECK(changes[1].at("path") == kIncident + "/retest");
  CHECK(changes[1].at("asked_by") == "uid " + std::to_string(getuid()));
  CHECK(changes[2].at("item") == "open:abc");
  CHECK(changes[2].at("asked_by") == "token a test");
}

TEST_CASE("who changes an incident without saying a name is known by the token's") {
  Api api;
  api.fill();
  const auto accepted = api.post(kIncident + "/accept", R"({"reason": "the price"})");
  CHECK(accepted.status == 200);
  CHECK(accepted.body.at("acceptance").at("by") == "a test");
  CHECK(api.post(kIncident + "/reopen", "{}").status == 200);
}

TEST_CASE("a name or a reason that is not text for people is refused") {
  Api api;
  api.fill();
  for (const json& body :
       {json{{"by", "ada"}}, json{{"by", "ada"}, {"reason", ""}},
        json{{"by", 7}, {"reason", "why"}}, json{{"by", "a\x1b[31m"}, {"reason", "why"}},
        json{{"by", std::string(201, 'a')}, {"reason", "why"}},
        json{{"by", "ada"}, {"reason", std::string(4'001, 'a')}}}) {
    INFO(body.dump());
    CHECK(api.post(kIncident + "/accept", body.dump()).status == 400);
  }
}

TEST_CASE("a dispute whose first answer was lost is answered again, for a key") {
  Api api;
  api.fill();
  REQUIRE(storage::IncidentStore(*api.database)
              .dispute(1, {.by = "ada", .reason = "it changes a test", .at = 1}));
  api.refusal = "incident 1 names no commit, so there is nothing to dispute";
  const json body{{"by", "ada"}, {"reason", "it changes a test"}};
  const auto ask = [&](const json& asked, Api::Headers headers) {
    return api.post(kIncident + "/dispute", asked.dump(), std::move(headers));
  };
  CHECK(ask(body, {}).status == 409);
  CHECK(ask({{"by", "bea"}, {"reason", "no"}}, {{"Idempotency-Key", "k1"}}).status == 409);
  const auto again = ask(body, {{"Idempotency-Key", "k1"}});
  CHECK(again.status == 200);
  CHECK(again.body.at("bisection") == 1);
  CHECK(ask(body, {{"Idempotency-Key", "a b"}}).status == 400);
}

TEST_CASE("a message that is tried again must be named") {
  Api api;
  const auto answer = api.post("/api/v1/outbox/retry", "{}");
  CHECK(answer.status == 400);
  CHECK_THAT(answer.text, Catch::Contains("missing key"));
}
