// The list of incidents: what it filters by, and what it says of each.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

/// One incident is open, one accepted, one closed; all are of the fixture's series.
struct Incidents : Api {
  Incidents() {
    fill();
    IncidentStore store(*database);
    accepted = add_incident("accepted");
    closed = add_incident("closed");
    const auto later = clock.wall_now() + std::chrono::milliseconds(std::chrono::hours(2)).count();
    REQUIRE(store.accept(accepted, {"ada", "wanted", later}));
    REQUIRE(store.close(closed, {"ada", "", later}));
    clock.advance(std::chrono::hours(72));
  }

  /// The ids that the API lists for that state.
  std::vector<Id> listed(const std::string& state) {
    std::vector<Id> ids;
    const auto answer = get("/api/v1/incidents?state=" + state);
    for (const auto& incident : answer.body.at("incidents")) ids.push_back(incident.at("id"));
    return ids;
  }

  Id accepted = 0;
  Id closed = 0;
};

}  // namespace

TEST_CASE("incidents are listed by the word that their rows have, accepted ones as closed, too") {
  Incidents api;
  CHECK(api.listed("accepted") == std::vector<Id>{api.accepted});
  CHECK(api.listed("closed") == std::vector<Id>{api.closed, api.accepted});
  CHECK(api.listed("open") == std::vector<Id>{1});
  const auto link = "href=\"incidents/" + std::to_string(api.accepted) + "\"";
  CHECK_THAT(api.page("/incidents?state=accepted"),
             Contains(link) && !Contains("href=\"incidents/1\""));
  CHECK_THAT(api.page("/incidents"), Contains("href=\"?state=accepted\""));
  CHECK_THAT(api.page("/incidents?state=open"), !Contains(link));
  const auto wrong = api.get("/api/v1/incidents?state=gone");
  CHECK(wrong.status == 400);
  CHECK_THAT(wrong.body.at("detail").get<std::string>(),
             Contains("must be one of open, acknowledged, closed, accepted"));
}

TEST_CASE("the list of incidents says how bad each is, and how long it is or was open") {
  Incidents api;
  IncidentRow lost;
  lost.comparison = 1;
  lost.kind = IncidentKind::lost;
  lost.key = lost.title = "lost";
  lost.opened_at = api.clock.wall_now();
  REQUIRE(IncidentStore(*api.database).open(lost));
  const auto csv = api.get("/incidents.csv").text;
  CHECK_THAT(csv, Contains("id,what,worst change,culprit"));
  const auto row_of = [&](const std::string& id) {
    const auto begin = csv.find("\r\n" + id + ",") + 2;
    return csv.substr(begin, csv.find('\r', begin) - begin);
  };
  CHECK_THAT(row_of("1"), Contains("+15.0 %\",") && Catch::Matchers::EndsWith(",3 days"));
  CHECK_THAT(row_of(std::to_string(api.closed)), Catch::Matchers::EndsWith(",2 h"));
  CHECK_THAT(row_of("4"), Contains(",no result,") && Catch::Matchers::EndsWith(",less than 1 h"));
}
