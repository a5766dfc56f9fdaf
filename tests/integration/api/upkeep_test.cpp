// What an administrator does over HTTP: with the files of builds, with the database.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;

namespace {

struct FilledApi : Api {
  FilledApi() { fill(); }

  /// The newest change that was kept, and who asked for it.
  std::string newest_change() const {
    const auto rows = storage::AuditStore(*database).list(1).value();
    return rows.empty() ? "" : rows.front().path + " by " + rows.front().asked_by;
  }
};

}  // namespace

TEST_CASE_METHOD(FilledApi, "a build is pinned and let go, and who asked is kept") {
  const auto pinned = post("/api/v1/builds/1/pin", "{}");
  CHECK(pinned.body == json{{"id", 1}, {"pinned", true}, {"lies_in_cache", true}});
  CHECK(newest_change() == "/api/v1/builds/1/pin by token a test");
  const auto released = post("/api/v1/builds/1/unpin", "{}");
  CHECK(released.body == json{{"id", 1}, {"pinned", false}, {"lies_in_cache", true}});
  const auto outside = post("/api/v1/builds/2/pin", "{}");
  CHECK(outside.body == json{{"id", 2}, {"pinned", false}, {"lies_in_cache", false}});
  CHECK(post("/api/v1/builds/99/pin", "{}").status == 404);
}

TEST_CASE_METHOD(FilledApi, "the files of a build, their size and their last use are reported") {
  const auto build = get("/api/v1/builds/1").body;
  CHECK(build.at("files") == "there");
  CHECK(build.at("bytes") == 1'900'000'000);
  // The fixture's comparison began then.
  CHECK(build.at("last_used_at") == get("/api/v1/comparisons/1").body.at("created_at"));
  CHECK(post("/api/v1/builds/1/pin", "{}").status == 200);
  CHECK(get("/api/v1/builds").body.at("builds").at(1).at("files") == "pinned");
  const auto other = get("/api/v1/builds/2").body;
  CHECK(other.at("files") == "there");
  CHECK(other.at("bytes").is_null());
  add_builds(1);
  CHECK(get("/api/v1/builds/3").body.at("files") == "gone");
  CHECK(get("/api/v1/builds/3").body.at("last_used_at").is_null());
}

TEST_CASE_METHOD(FilledApi, "the list of builds says how full the cache is") {
  CHECK_THAT(page("/builds"), Contains("The builds in [build] cache add up to 1.77 GiB;") &&
                                  Contains("it may hold 40 GiB (cache_limit)."));
}

TEST_CASE_METHOD(FilledApi, "the files of a build are removed, and who asked is kept") {
  CHECK(remove("/api/v1/builds/2").status == 409);
  CHECK(remove("/api/v1/builds/99").status == 404);
  CHECK(newest_change().empty());
  CHECK(remove("/api/v1/builds/1").status == 200);
  CHECK(removed_build == 1);
  CHECK(newest_change() == "DELETE /api/v1/builds/1 by token a test");
}

TEST_CASE_METHOD(FilledApi, "a build is fetched by a request, once for a key") {
  const std::string body = R"({"name": "2.13.0"})";
  const Headers key{{"Idempotency-Key", "fetch-1"}};
  const auto asked = post("/api/v1/builds", body, key);
  CHECK(asked.status == 202);
  CHECK(post("/api/v1/builds", body, key).body == asked.body);
  const auto stored = storage::RequestStore(*database).get(1).value();
  CHECK(stored.kind == storage::RequestKind::fetch);
  CHECK(stored.body_json == json::parse(body).dump());
  CHECK(get("/api/v1/requests?kind=fetch").body.at("requests").size() == 1);
  CHECK(post("/api/v1/builds", "{}").status == 400);
  CHECK(post("/api/v1/builds", R"({"name": "2.13.0", "now": 1})").status == 400);
  refusal = "there is no such build";
  CHECK(post("/api/v1/builds", R"({"name": "9.9"})").status == 422);
}

TEST_CASE_METHOD(FilledApi, "a backup takes no path, and a check says what is broken") {
  CHECK(post("/api/v1/database/backup", R"({"file": "/etc/passwd"})").status == 400);
  const auto made = post("/api/v1/database/backup", "{}");
  CHECK(made.body.at("backup") == database_path.string());
  CHECK(made.body.at("bytes") > 0);
  CHECK(newest_change() == "/api/v1/database/backup by token a test");
  CHECK(post("/api/v1/database/check", "{}").body == json{{"broken_rules", json::array()}});
  CHECK(post("/api/v1/database/gc", "{}").status == 202);
  CHECK(tidied == 1);
}

TEST_CASE_METHOD(FilledApi, "without a token nothing of the database or of a build is changed") {
  const Headers none{{"Content-Type", "application/json"}};
  for (const auto* path :
       {"/api/v1/builds", "/api/v1/builds/1/pin", "/api/v1/builds/1/unpin",
        "/api/v1/database/backup", "/api/v1/database/check", "/api/v1/database/gc"}) {
    INFO(path);
    CHECK(send("POST", path, "{}", none).status == 401);
  }
  CHECK(send("DELETE", "/api/v1/builds/1", "", {}).status == 401);
  CHECK(removed_build == 0);
  CHECK(newest_change().empty());
}
