#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct OneIncident : FreshStores {
  ComparisonRow comparison = comparison_of_two(stores);
  IncidentStore& incidents = stores.incidents;
  IncidentRow incident = incidents.open(incident_of(comparison, "k1")).value();
};

}  // namespace

TEST_CASE_METHOD(OneIncident, "an incident comes back with its series in order") {
  const auto row = incidents.get(incident.id).value();
  REQUIRE(row.key == "k1");
  REQUIRE(row.state == IncidentState::open);
  REQUIRE(row.series.size() == 2);
  REQUIRE(row.series[0].series == kTime);
  REQUIRE(row.series[0].interval_high == 1.18);
  REQUIRE(row.series[1].series.metric == Metric::cpu_peak);
  REQUIRE(incidents.of_comparison(comparison.id).value().at(0).id == incident.id);
}

TEST_CASE_METHOD(OneIncident, "a key is open once and may be opened again when it is closed") {
  REQUIRE(incidents.open(incident_of(comparison, "k1")).error().code == ErrorCode::conflict);
  REQUIRE(incidents.find_open("k1").value()->id == incident.id);
  REQUIRE(incidents.acknowledge(incident.id, {"ada", "", 5}));
  REQUIRE(incidents.find_open("k1").value()->state == IncidentState::acknowledged);
  REQUIRE(incidents.close(incident.id, {"ada", "", 99}));
  REQUIRE_FALSE(incidents.find_open("k1").value());
  REQUIRE(incidents.get(incident.id).value().closed_at == 99);
  const auto second = incidents.open(incident_of(comparison, "k1")).value();
  REQUIRE(incidents.list(1).value().at(0).id == second.id);
}

TEST_CASE_METHOD(OneIncident, "the newest issue is that of any incident, closed ones too") {
  const auto file = [&](const IncidentRow& row, const std::string& key, std::int64_t issue) {
    REQUIRE(stores.outbox.queue(message_of(row, key, OutboxKind::open)));
    REQUIRE(stores.outbox.mark_sending(key));
    REQUIRE(stores.outbox.mark_sent(key, issue, 1000));
  };
  CHECK(newest_issue(*stores.database).value() == std::nullopt);
  file(incident, "m1", 41);
  REQUIRE(incidents.close(incident.id, {"ada", "", 2000}));
  file(incidents.open(incident_of(comparison, "k2")).value(), "m2", 12);
  incidents.open(incident_of(comparison, "k3")).value();
  CHECK(newest_issue(*stores.database).value() == 41);
}

TEST_CASE_METHOD(OneIncident, "a closed incident is not acknowledged or closed again") {
  REQUIRE(incidents.acknowledge(incident.id, {"ada", "", 5}));
  REQUIRE(incidents.acknowledge(incident.id, {"ada", "", 5}).error().code == ErrorCode::conflict);
  REQUIRE(incidents.close(incident.id, {"ada", "", 1}));
  REQUIRE(incidents.close(incident.id, {"ada", "", 2}).error().code == ErrorCode::conflict);
  REQUIRE(incidents.close(77, {"ada", "", 2}).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneIncident, "a half-stored incident leaves nothing behind") {
  auto row = incident_of(comparison, "k2");
  row.series.push_back(row.series.front());  // the same series twice is refused
  REQUIRE(incidents.open(row).error().code == ErrorCode::conflict);
  REQUIRE_FALSE(incidents.find_open("k2").value());
}

TEST_CASE_METHOD(OneIncident, "an incident knows its bisection") {
  BisectionRow search;
  search.incident = incident.id;
  const auto bisection = stores.bisections.open(search).value();
  REQUIRE(incidents.attach_bisection(incident.id, bisection.id));
  REQUIRE(incidents.get(incident.id).value().bisection == bisection.id);
  REQUIRE(incidents.attach_bisection(incident.id, 77).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneIncident, "an accepted incident is closed and keeps who and why") {
  REQUIRE_FALSE(incident.acceptance);
  REQUIRE(incidents.accept(incident.id, {"ada", "the price of being right", 7}));
  const auto row = incidents.get(incident.id).value();
  REQUIRE(row.state == IncidentState::closed);
  REQUIRE(row.closed_at == 7);
  REQUIRE(row.acceptance);
  REQUIRE(row.acceptance->by == "ada");
  REQUIRE(row.acceptance->reason == "the price of being right");
  REQUIRE(row.acceptance->at == 7);
  const auto again = incidents.accept(incident.id, {"bob", "again", 8}).error();
  REQUIRE(again.code == ErrorCode::conflict);
  REQUIRE_THAT(again.message, Catch::Contains("incident 1 is accepted already"));
  REQUIRE(incidents.accept(77, {"bob", "what", 8}).error().code == ErrorCode::not_found);
  REQUIRE(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneIncident, "each decision is kept, with who made it, when and why") {
  REQUIRE(incidents.acknowledge(incident.id, {"ada", "", 5}));
  REQUIRE(incidents.dispute(incident.id, {"bob", "only a test", 6, "uid 1000"}));
  REQUIRE(incidents.get(incident.id).value().decisions.back().decision.asked_by == "uid 1000");
  REQUIRE(incidents.accept(incident.id, {"cyd", "the price", 7}));
  REQUIRE(incidents.reopen(incident.id, {"ada", "too high a price", 8}));
  REQUIRE(incidents.close(incident.id, {"", "a recheck found it gone", 9}));
  const auto row = incidents.get(incident.id).value();
  REQUIRE(row.state == IncidentState::closed);
  REQUIRE_FALSE(row.acceptance);
  REQUIRE(row.closed_at == 9);
  std::string all;
  for (const auto& [kind, decision] : row.decisions) {
    all += std::string(to_string(kind)) + " " + decision.by + " " + decision.reason + " " +
           std::to_string(decision.at) + "; ";
  }
  REQUIRE(all ==
          "acknowledged ada  5; disputed bob only a test 6; accepted cyd the price 7; "
          "reopened ada too high a price 8; closed  a recheck found it gone 9; ");
  REQUIRE(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(OneIncident, "a decision that the state does not admit says so, and is not kept") {
  const auto message = [](const Status& refused) { return refused.error().message; };
  REQUIRE(message(incidents.reopen(incident.id, {"ada", "", 1})) ==
          "incident 1 is open: it need not be reopened");
  REQUIRE(incidents.close(incident.id, {"ada", "", 2}));
  REQUIRE(message(incidents.close(incident.id, {"ada", "", 3})) == "incident 1 is closed already");
  REQUIRE(message(incidents.accept(incident.id, {"ada", "why", 3})) ==
          "incident 1 is closed and cannot be accepted: reopen it first");
  REQUIRE(message(incidents.dispute(incident.id, {"ada", "why", 3})) ==
          "incident 1 is closed and cannot be disputed: reopen it first");
  REQUIRE(incidents.get(incident.id).value().decisions.size() == 1);
}

TEST_CASE_METHOD(OneIncident, "an acceptance needs a name and a reason") {
  REQUIRE_FALSE(incidents.accept(incident.id, {"", "wanted", 7}));
  REQUIRE_FALSE(incidents.accept(incident.id, {"ada", "", 7}));
  REQUIRE(incidents.get(incident.id).value().state == IncidentState::open);
}

TEST_CASE_METHOD(OneIncident, "an incident found again is known to the comparison that did") {
  REQUIRE(incidents.found_again_by(comparison.id).value().empty());
  REQUIRE(incidents.add_recurrence(incident.id, comparison.id));
  REQUIRE(incidents.found_again_by(comparison.id).value().at(0).id == incident.id);
  REQUIRE(incidents.set_title(incident.id, "another"));
  REQUIRE(incidents.get(incident.id).value().title == "another");
}
