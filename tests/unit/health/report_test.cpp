#include "torchwatch/health/report.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::health;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr storage::WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z

Report busy() {
  return {.problems = {{.source = "disk",
                        .item = "",
                        .since = kNow,
                        .sentence = "the disk is nearly full",
                        .detail = "the disk of /srv/builds has 61 MiB free"}},
          .warnings = {"no sandbox"},
          .doing = {.what = "preparing the runner of /srv/mine", .comparison = 2, .since = kNow},
          .version = "0.1.0",
          .free_cache_bytes = 64'000'000};
}

}  // namespace

TEST_CASE("who is trusted reads where and by how much, a stranger no path") {
  const auto trusted = to_json(busy(), true);
  CHECK(trusted.at("status") == "failing");
  CHECK(trusted.at("problems").at(0).at("detail") == "the disk of /srv/builds has 61 MiB free");
  CHECK(trusted.at("doing").at("comparison") == 2);
  CHECK(trusted.at("version") == "0.1.0");
  CHECK(trusted.at("free_cache_bytes") == 64'000'000);
  const auto stranger = to_json(busy(), false);
  CHECK_FALSE(stranger.contains("version"));
  CHECK_FALSE(stranger.contains("free_cache_bytes"));
  CHECK(stranger.at("problems").at(0).at("detail") == "the disk is nearly full");
  CHECK_THAT(stranger.dump(), !Contains("/srv"));
}

TEST_CASE("what is well and idle says so and nothing else") {
  CHECK(to_json(Report{}, true) == json{{"status", "ok"}});
}

TEST_CASE("an item that waits degrades the service, and only what concerns all of it fails it") {
  Report waiting;
  waiting.problems = {{.source = "comparison", .item = "7", .sentence = "put off"}};
  CHECK(to_json(waiting, true).at("status") == "degraded");
  waiting.problems.push_back({.source = "source", .item = "", .sentence = "not fetched"});
  CHECK(to_json(waiting, true).at("status") == "degraded");
  waiting.problems.push_back({.source = "nodes", .item = "", .sentence = "nodes differ"});
  CHECK(to_json(waiting, true).at("status") == "degraded");
  waiting.problems.push_back({.source = "outbox", .item = "", .sentence = "not delivered"});
  CHECK(to_json(waiting, true).at("status") == "failing");
}

TEST_CASE("a report is read as it was written") {
  const auto read = parse_report(to_json(busy(), true)).value();
  REQUIRE(read.problems.size() == 1);
  CHECK(read.problems[0].source == "disk");
  CHECK(read.problems[0].since == kNow);
  CHECK(text_of(read.problems[0], true) == "the disk of /srv/builds has 61 MiB free");
  CHECK(read.warnings == std::vector<std::string>{"no sandbox"});
  CHECK(read.doing.what == "preparing the runner of /srv/mine");
  CHECK(read.doing.comparison == 2);
  CHECK(read.doing.since == kNow);
}

TEST_CASE("what is not a report is refused") {
  for (const auto* text : {"null", "[]", "{}", "7"}) {
    CHECK_FALSE(parse_report(json::parse(text)));
  }
  const auto odd = json::parse(R"({"status": "ok", "doing": 7, "problems": [3, {"item": 4}]})");
  CHECK(parse_report(odd).value().problems.size() == 1);
}

TEST_CASE("a disk without its reserve is named with what is free and what is wanted") {
  config::Config config;
  config.build.cache = "/tmp/no/such/folder";
  config.build.disk_reserve_bytes = std::int64_t{1} << 60;
  const auto reserved = require_disk_reserve(config);
  REQUIRE_FALSE(reserved);
  CHECK(reserved.error().code == ErrorCode::unavailable);
  CHECK_THAT(reserved.error().message,
             Contains("/tmp/no/such/folder") && Contains("[build] disk_reserve (1,048,576 TiB)"));
  config.build.disk_reserve_bytes = 0;
  CHECK(require_disk_reserve(config));
}

TEST_CASE("the database's disk needs the reserve as well as that of the cache") {
  config::Config config;
  config.build.cache = "/tmp/no/such/folder";
  config.storage.path = "/proc/torchwatch.sqlite";  // has nothing free
  config.build.disk_reserve_bytes = 1;
  const auto reserved = require_disk_reserve(config);
  REQUIRE_FALSE(reserved);
  CHECK_THAT(reserved.error().message, Contains("the disk of /proc has 0 bytes free"));
}
