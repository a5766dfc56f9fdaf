// The first screen: is anything wrong, since when, who has it, what comes next, is the service
// well.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

/// An open incident of 2026-08-16, found by a nightly of 03:04 UTC.
struct FirstPage : Api {
  FirstPage() {
    fill();
    end(ComparisonStore(*database).get(1).value(), ComparisonState::reported);
  }

  void end(const ComparisonRow& row, ComparisonState state) {
    REQUIRE(ComparisonStore(*database).advance(row, state, clock.wall_now()));
  }

  /// One more nightly, found `days` later at that time of the day.
  ComparisonRow add_nightly(int days, std::chrono::minutes at) {
    constexpr WallMillis kMidnight = 1'786'838'400'000;
    const auto found = kMidnight +
                       std::chrono::milliseconds(days * std::chrono::hours(24)).count() +
                       std::chrono::milliseconds(at).count();
    const auto build =
        BuildStore(*database).discover(BuildOrigin::nightly, "day " + std::to_string(days)).value();
    return ComparisonStore(*database).open({Purpose::nightly, build.id, 2}, found).value();
  }

  void refuse_nightly(int days, std::chrono::minutes at) {
    end(add_nightly(days, at), ComparisonState::refused);
  }

  /// A comparison of that purpose with the verdict on one series, at its end.
  void add_ended(Purpose purpose, Verdict verdict) {
    end(with_verdict(ComparisonStore(*database).open({purpose, 1, 1}, 1).value(), verdict),
        ComparisonState::reported);
  }

  ComparisonRow with_verdict(const ComparisonRow& row, Verdict verdict) {
    VerdictRow of;
    of.comparison = row.id;
    of.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
    of.verdict = verdict;
    REQUIRE(ComparisonStore(*database).add_verdict(of));
    return row;
  }

  /// The page as text, made anew.
  std::string read() {
    clock.advance(std::chrono::seconds(10));
    return get("/index.md").text;
  }

  /// A fact of the first page as its text has it.
  std::string fact(const std::string& name) {
    const auto text = read();
    const auto begin = text.find(name);
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  }
};

using std::chrono::hours;
using std::chrono::minutes;

}  // namespace

TEST_CASE("a quiet nightly does not hide an incident that is open since an earlier one") {
  FirstPage api;
  const auto quiet = api.add_nightly(1, hours(3));
  api.end(api.with_verdict(quiet, Verdict::unchanged), ComparisonState::reported);
  CHECK_THAT(api.page("/"), Contains("<p class=\"summary bad\""));
  CHECK_THAT(api.read(), Contains("1 open incident, since 2026-08-16; nobody has it yet."));
  IncidentStore incidents(*api.database);
  REQUIRE(incidents.acknowledge(1, {"ada", "", 1}));
  REQUIRE(incidents.dispute(1, {"bob", "no", 2}));
  CHECK_THAT(api.read(), Contains("since 2026-08-16; ada has it."));
  const auto second = api.add_incident("another");
  CHECK_THAT(api.read(), Contains("2 open incidents, the oldest since 2026-08-16; ada has it."));
  for (const auto id : {Id{1}, second}) REQUIRE(incidents.close(id, {"ada", "", 3}));
  CHECK_THAT(api.page("/"), Contains("<p class=\"summary good\"") && !Contains("open incident,"));
}

TEST_CASE("an incident that is open is seen behind any number of newer ones that are closed") {
  FirstPage api;
  IncidentStore incidents(*api.database);
  for (int i = 0; i < 201; ++i) {
    REQUIRE(incidents.close(api.add_incident("key " + std::to_string(i)), {"ada", "", 2}));
  }
  CHECK_THAT(api.read(), Contains("1 open incident, since 2026-08-16; nobody has it yet."));
}

TEST_CASE("the first page says when the next nightly is expected, across midnight") {
  FirstPage api;
  CHECK_THAT(api.page("/"), Contains("once its build is there.") && !Contains("As an estimate"));
  api.refuse_nightly(1, hours(23) + minutes(50));
  CHECK_THAT(api.page("/"), !Contains("As an estimate"));
  api.refuse_nightly(3, minutes(10));
  api.refuse_nightly(4, minutes(20));
  CHECK_THAT(api.page("/"), Contains("As an estimate, it is found at about 00:10 UTC: the last 4 "
                                     "came between 23:50 and 03:04."));
}

TEST_CASE("nightlies that came together count once") {
  FirstPage api;
  api.refuse_nightly(1, hours(3));
  api.refuse_nightly(2, hours(3) + minutes(30) - hours(24));
  CHECK_THAT(api.page("/"), !Contains("As an estimate"));
  api.refuse_nightly(3, hours(3) + minutes(10));
  CHECK_THAT(api.page("/"),
             Contains("at about 03:04 UTC: the last 3 came between 03:00 and 03:10"));
}

TEST_CASE("nightlies that come at any time of the day have no usual one") {
  FirstPage api;
  api.refuse_nightly(1, hours(12));
  api.refuse_nightly(2, hours(20));
  CHECK_THAT(api.page("/"), !Contains("As an estimate"));
  for (int day = 3; day < 10; ++day) api.refuse_nightly(day, hours(20));
  CHECK_THAT(api.page("/"), Contains("at about 20:00 UTC, as the last 7 were."));
}

TEST_CASE("the first page says when an alarm comes without a nightly, until it is due") {
  FirstPage api;
  CHECK_THAT(api.read(), Contains("An alarm is raised if none is found by 2026-08-20 03:04 UTC."));
  api.clock.advance(hours(97));
  CHECK_THAT(api.page("/"), !Contains("An alarm is raised"));
}

TEST_CASE("the first page has the newest self-test, drill and delivery, and the free disk") {
  FirstPage api;
  CHECK_THAT(api.fact("last self-test"), Contains("none yet"));
  CHECK_THAT(api.fact("last drill"), Contains("none yet"));
  CHECK_THAT(api.fact("last delivery to GitHub"), Contains("none yet"));
  CHECK_THAT(api.page("/"), Contains("4.768 MiB on the disk of [build] cache"));
  const auto seen = api.send("GET", "/", "", {{"X-Forwarded-For", "192.0.2.1"}}).text;
  CHECK_THAT(seen, Contains("last self-test") && !Contains("free disk"));
  api.add_ended(Purpose::self_test, Verdict::improved);
  api.add_ended(Purpose::drill, Verdict::regressed);
  OutboxStore outbox(*api.database);
  REQUIRE(outbox.mark_sending("open:abc"));
  REQUIRE(outbox.mark_sent("open:abc", 17, api.clock.wall_now()));
  api.clock.advance(hours(5));
  CHECK_THAT(api.fact("last self-test"),
             Contains("2026-08-16 03:04 UTC") && Contains("of 1 series 1 called changed"));
  CHECK_THAT(api.fact("last drill"), Contains("the planted slowdown was found"));
  CHECK_THAT(api.fact("last delivery to GitHub"), Contains("2026-08-16 03:04 UTC (5 h 0 min ago)"));
  api.add_ended(Purpose::drill, Verdict::unchanged);
  api.clock.advance(hours(1));
  CHECK_THAT(api.fact("last drill"), Contains("the planted slowdown was missed"));
}
