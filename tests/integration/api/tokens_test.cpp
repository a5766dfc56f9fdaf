// Tokens over HTTP, and what those see who have none.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using nlohmann::json;

namespace {

const std::string kHash(64, 'a');
const Api::Headers kStranger{{"X-Forwarded-For", "198.51.100.1"}};

std::string spec(const json& members) {
  json body{{"name", "ci"}, {"scopes", "read,measure"}, {"sha256", kHash}};
  body.update(members);
  return body.dump();
}

}  // namespace

TEST_CASE("a token is stored by its hash, which nobody reads again") {
  Api api;
  const auto made = api.post("/api/v1/tokens", spec(json::object()));
  CHECK(made.status == 201);
  CHECK(made.body.at("scopes") == "read,measure");
  CHECK(api.tokens_changed == 1);
  const auto listed = api.get("/api/v1/tokens");
  CHECK(listed.body.at("tokens").at(0).at("name") == "ci");
  CHECK(listed.text.find(kHash) == std::string::npos);
  CHECK(api.post("/api/v1/tokens", spec({{"sha256", std::string(64, 'b')}})).status == 409);
}

TEST_CASE("a token is revoked once") {
  Api api;
  REQUIRE(api.post("/api/v1/tokens", spec(json::object())).status == 201);
  const auto revoked = api.post("/api/v1/tokens/1/revoke", "{}");
  CHECK(revoked.status == 200);
  CHECK(revoked.body.at("revoked_at").is_string());
  CHECK(api.tokens_changed == 2);
  CHECK(api.revoked_token == "ci");
  CHECK(api.post("/api/v1/tokens/1/revoke", "{}").status == 409);
  CHECK(api.post("/api/v1/tokens/2/revoke", "{}").status == 404);
}

TEST_CASE("a token without a name, a hash or a scope is refused") {
  Api api;
  for (const auto& change : {json{{"name", ""}}, json{{"sha256", "abc"}}, json{{"scopes", "write"}},
                             json{{"scopes", ""}}, json{{"sha256", std::string(64, 'G')}}}) {
    INFO(change);
    CHECK(api.post("/api/v1/tokens", spec(change)).status == 400);
  }
  CHECK(api.tokens_changed == 0);
}

TEST_CASE("tokens are listed to nobody without the scope") {
  Api api;
  CHECK(api.send("GET", "/api/v1/tokens", "", {}).status == 401);
  CHECK(api.send("GET", "/api/v1/tokens", "", kStranger).status == 401);
}

TEST_CASE("a stranger sees neither paths of this machine nor the texts of errors") {
  Api api;
  api.fill();
  BuildStore builds(*api.database);
  const auto folder = builds.discover(BuildOrigin::folder, "/home/ada/build").value();
  ComparisonStore comparisons(*api.database);
  const auto row =
      comparisons.open({Purpose::requested, folder.id, folder.id}, api.clock.wall_now()).value();
  REQUIRE(comparisons.cancel(row.id, "no tree at /home/ada/build", api.clock.wall_now()));
  REQUIRE(api.post("/api/v1/bisections", R"({"suspect": "abc123"})").status == 202);
  REQUIRE(RequestStore(*api.database)
              .answer(1, RequestState::cancelled, R"({"error": "/home/ada is gone"})"));
  BisectionRow search;
  search.good = "aaaa";
  search.bad = "bbbb";
  search.spec_json = to_json(bisection::BisectionSpec{});
  search = BisectionStore(*api.database).open(search).value();
  const json gone{
      {"candidate", 0}, {"commit", "cccc"}, {"reason", "no tree at /home/ada"}, {"fault", false}};
  REQUIRE(BisectionStore(*api.database).append(search.id, {0, "unbuildable", gone.dump()}));
  CHECK(api.send("GET", "/api/v1/incidents/1", "", kStranger).text.find("Slower.") ==
        std::string::npos);
  for (const auto* path : {"/api/v1/builds", "/api/v1/comparisons", "/api/v1/requests/1",
                           "/api/v1/bisections/2", "/"}) {
    INFO(path);
    CHECK(api.send("GET", path, "", kStranger).text.find("/home/ada") == std::string::npos);
    CHECK(api.send("GET", path, "", {}).text.find("/home/ada") != std::string::npos);
    CHECK(api.get(path).text.find("/home/ada") != std::string::npos);
  }
}
