// The Atom feed of incidents.
#include "torchwatch/notify/feed.hpp"

#include <catch2/catch.hpp>
#include <regex>

#include "notify_fixture.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

/// Whether every tag that is opened is closed, in order: what XML asks of elements.
bool is_balanced(const std::string& xml) {
  static const std::regex kTag(R"(<(/?)([a-z]+)([^<>]*?)(/?)>)");
  std::vector<std::string> open;
  for (std::sregex_iterator at(xml.begin(), xml.end(), kTag), end; at != end; ++at) {
    const auto& match = *at;
    if (match[4] == "/") continue;
    if (match[1] == "") {
      open.push_back(match[2]);
    } else if (open.empty() || open.back() != match[2].str()) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a feed has each incident with a lasting id, when it changed and where it is") {
  NotifyFixture fixture;
  const auto row = fixture.nightly("2026-08-17", kCommit);
  const auto incident = fixture.incident_of(row.id, "[perf] +15.2 % time");
  const auto feed = notify::incident_feed({*fixture.database, "https://perf.example/"}).value();
  CHECK(is_balanced(feed.substr(feed.find("<feed"))));
  CHECK_THAT(feed, Contains("<feed xmlns=\"http://www.w3.org/2005/Atom\">"));
  CHECK_THAT(feed, Contains("<id>https://perf.example/incidents.atom</id>"));
  CHECK_THAT(feed, Contains("href=\"https://perf.example/incidents/1\""));
  CHECK_THAT(feed, Contains("resnet18 cpu-train time +15.2 %"));
  const auto id = feed.substr(feed.find("<id>urn:x-torchwatch:incident:"), 60);
  const auto later = fixture.clock.wall_now() + 86'400'000;
  REQUIRE(
      storage::IncidentStore(*fixture.database)
          .close(incident.id, {.by = "ada lovelace", .reason = "a private reason", .at = later}));
  const auto closed = notify::incident_feed({*fixture.database, ""}).value();
  CHECK_THAT(closed, Contains(id));
  CHECK_THAT(closed, Contains("<updated>" + platform::iso_utc(later) + "</updated>"));
  CHECK_THAT(closed, Contains("State: closed"));
  CHECK_THAT(closed, !Contains("lovelace") && !Contains("private"));
}

TEST_CASE("text of others is text in a feed") {
  NotifyFixture fixture;
  const auto row = fixture.nightly("2026-08-17", kCommit);
  fixture.incident_of(row.id,
                      "<script>alert(1)</script> ]]> \"&amp; \x01 \xEF\xBF\xBF \xff\xfe </title>");
  const auto feed = notify::incident_feed({*fixture.database, ""}).value();
  CHECK(is_balanced(feed.substr(feed.find("<feed"))));
  CHECK_THAT(feed, Contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
  CHECK_THAT(feed, !Contains("<script>") && !Contains("\x01") && !Contains("\xEF\xBF\xBF"));
}

TEST_CASE("a feed of no incidents is a feed") {
  NotifyFixture fixture;
  const auto feed = notify::incident_feed({*fixture.database, ""}).value();
  CHECK(is_balanced(feed.substr(feed.find("<feed"))));
  CHECK_THAT(feed, Contains("<updated>1970-01-01T00:00:00Z</updated>"));
}

TEST_CASE("who is signed in on the pages may have the feed that they name") {
  NotifyFixture fixture;
  CHECK(notify::feed_route({.database = *fixture.database}).is_page);
}
