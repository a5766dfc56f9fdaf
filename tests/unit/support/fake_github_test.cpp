// The fake GitHub itself: that it answers, refuses and forgets as the real one does.
#include <catch2/catch.hpp>

#include "github/client.hpp"
#include "github/description.hpp"

using namespace torchwatch;
using namespace torchwatch::test;

namespace {

template <typename Core>
struct WorldOf {
  explicit WorldOf(ApiDescription description = github_description())
      : core("owner/name", std::move(description), clock), client(core, clock) {
    core.accounts.add_token("token-1", {.login = "ada", .id = 1});
  }

  platform::HttpResponse send(const std::string& method, const std::string& path,
                              const std::string& body = "",
                              std::map<std::string, std::string> more = {}) {
    platform::HttpRequest request;
    request.method = method;
    request.url = "https://api.github.example" + path;
    request.body = body;
    request.headers = {{"Accept", "application/vnd.github+json"},
                       {"X-GitHub-Api-Version", "2022-11-28"},
                       {"Authorization", "Bearer token-1"}};
    if (!body.empty()) request.headers["Content-Type"] = "application/json";
    request.headers.merge(more);
    return client.send(request).value();
  }
  int open(const std::string& title) {
    return send("POST", kIssues, nlohmann::json{{"title", title}, {"body", "text"}}.dump()).status;
  }
  std::size_t listed() {
    return nlohmann::json::parse(send("GET", kIssues + "?state=all").body).size();
  }

  inline static const std::string kIssues = "/repos/owner/name/issues";
  FakeClock clock;
  Core core;
  FakeGithubClient client;
};
using World = WorldOf<JudgedGithubCore>;

}  // namespace

TEST_CASE("what the fake GitHub answers is as GitHub describes it, and as the project does") {
  for (auto description : {github_description(), own_github_description()}) {
    World world(std::move(description));
    CHECK(world.open("one") == 201);
    CHECK(world.send("POST", World::kIssues + "/1/comments", R"({"body": "news"})").status == 201);
    CHECK(world.send("GET", World::kIssues + "/1/comments").status == 200);
    CHECK(world
              .send("PATCH", World::kIssues + "/1",
                    R"({"state": "closed", "state_reason": "completed"})")
              .status == 200);
    CHECK(world.listed() == 1);
    CHECK(world.send("GET", "/user").status == 200);
    CHECK(world.send("GET", "/rate_limit").status == 200);
    CHECK(world.send("GET", "/repos/owner/name").status == 200);
    CHECK(world.send("POST", World::kIssues + "/9/comments", R"({"body": "x"})").status == 404);
  }
}

TEST_CASE("a request that GitHub does not describe is a violation") {
  WorldOf<FakeGithubCore> world(own_github_description());
  world.send("GET", World::kIssues + "?stat=all");
  world.send("POST", World::kIssues, R"({"titel": "x"})");
  world.send("GET", "/repos/owner/name/nonsense");
  CHECK(world.core.violations().size() >= 2);
}

TEST_CASE("what did not change costs nothing, and what did is answered anew") {
  World world;
  CHECK(world.open("one") == 201);
  const auto first = world.send("GET", World::kIssues);
  const auto used = world.core.quota.used();
  const std::map<std::string, std::string> known{{"If-None-Match", first.headers.at("etag")}};
  CHECK(world.send("GET", World::kIssues, "", known).status == 304);
  CHECK(world.core.quota.used() == used);
  CHECK(world.open("two") == 201);
  CHECK(world.send("GET", World::kIssues, "", known).status == 200);
}

TEST_CASE(
    "a new issue is missing from lists for a while, but not where it is asked for by number") {
  World world;
  world.core.with([](auto& core) { core.world.list_lag = std::chrono::seconds(60); });
  CHECK(world.open("one") == 201);
  CHECK(world.listed() == 0);
  CHECK(world.send("GET", World::kIssues + "/1").status == 200);
  world.clock.advance(std::chrono::seconds(60));
  CHECK(world.listed() == 1);
}

TEST_CASE("an issue that was deleted is gone, and its number stays its own") {
  World world;
  CHECK(world.open("one") == 201);
  world.core.with([](auto& core) { core.world.issues.at(0).is_deleted = true; });
  CHECK(world.listed() == 0);
  CHECK(world.send("GET", World::kIssues + "/1").status == 410);
  CHECK(world.open("two") == 201);
  CHECK(world.send("GET", World::kIssues + "/2").status == 200);
}

TEST_CASE("who makes too much in a minute is sent away, and the hour has an end, too") {
  World world;
  for (int i = 0; i < 80; ++i) CHECK(world.open("many") == 201);
  const auto refused = world.send("POST", World::kIssues, R"({"title": "more"})");
  CHECK(refused.status == 403);
  CHECK(refused.headers.at("retry-after") == "60");
  CHECK_THAT(refused.body, Catch::Contains("secondary rate limit"));
  world.clock.advance(std::chrono::seconds(60));
  CHECK(world.open("later") == 201);
  world.core.with([](auto& core) { core.quota.set({.requests_per_hour = 90}); });
  while (world.send("GET", "/user").status == 200) {
  }
  const auto exhausted = world.send("GET", "/user");
  CHECK(exhausted.status == 403);
  CHECK(exhausted.headers.at("x-ratelimit-remaining") == "0");
  world.clock.advance(std::chrono::hours(1));
  CHECK(world.send("GET", "/user").status == 200);
}

TEST_CASE("a token that may not write is answered with the permission that it lacks") {
  World world;
  world.core.with([](auto& core) {
    core.accounts.add_token("token-1", {.login = "ada", .id = 1}, GithubPermissions{});
  });
  const auto refused = world.send("POST", World::kIssues, R"({"title": "one"})");
  CHECK(refused.status == 403);
  CHECK(refused.headers.at("x-accepted-github-permissions") == "issues=write");
  world.core.with([](auto& core) { core.accounts.drop_token("token-1"); });
  CHECK(world.send("GET", "/user").status == 401);
}

TEST_CASE("a slow answer takes its time, and one that is too slow does not arrive") {
  World world;
  const auto begin = world.clock.monotonic_now();
  world.core.fail_next(
      {.method = "GET", .kind = Fault::Kind::slow, .delay = std::chrono::seconds(5)});
  CHECK(world.send("GET", "/user").status == 200);
  CHECK(world.clock.monotonic_now() - begin == std::chrono::seconds(5));
  world.core.fail_next({.kind = Fault::Kind::slow, .delay = std::chrono::minutes(1)});
  platform::HttpRequest request;
  request.method = "POST";
  request.url = "https://api.github.example" + World::kIssues;
  request.headers = {{"Accept", "application/vnd.github+json"},
                     {"X-GitHub-Api-Version", "2022-11-28"},
                     {"Content-Type", "application/json"},
                     {"Authorization", "Bearer token-1"}};
  request.body = R"({"title": "late"})";
  CHECK(world.client.send(request).error().code == ErrorCode::timed_out);
  CHECK(world.core.with([](auto& core) { return core.world.issues.size(); }) == 1);
}
