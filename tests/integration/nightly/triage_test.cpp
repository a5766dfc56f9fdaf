// What people decide about incidents, carried through on a scripted day.
#include "torchwatch/triage/triage.hpp"

#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/decisions.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::DecisionKind;
using storage::OutboxKind;
using triage::decide_incident;

namespace {

/// A reported day with two incidents, each with its culprit.
struct ReportedDay {
  ReportedDay() : service(test::ScriptedService::open(day.config()).value()) { carry_out(); }

  void carry_out() const { REQUIRE(service->carry_out_due_comparisons()); }
  comparison::Services& services() const { return service->services(); }
  storage::Database& database() const { return services().database; }
  storage::IncidentRow incident() const {
    return storage::IncidentStore(database()).get(1).value();
  }
  std::vector<storage::OutboxRow> messages() const {
    return storage::OutboxStore(database()).of_incident(1).value();
  }
  std::optional<std::string> culprit() const {
    const auto row = storage::BisectionStore(database()).get(*incident().bisection).value();
    return bisection::parse_bisection_result(row.result_json).value().culprit();
  }

  /// Changes the database as no store does: foreign keys are not looked at.
  void execute(const std::string& sql) const {
    SQLite::Database file(day.config().storage.path.string(), SQLite::OPEN_READWRITE);
    file.exec("PRAGMA foreign_keys = OFF; " + sql);
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path(), test::day_with_two_culprits()};
  std::unique_ptr<test::ScriptedService> service;
};

}  // namespace

TEST_CASE("a disputed search is carried out again, and its result reported once") {
  const ReportedDay day;
  const auto first = day.culprit();
  REQUIRE(first);
  const auto before = day.messages().size();
  const auto again = triage::dispute_incident(day.services(), 1, {"ada", "only a test"}).value();
  CHECK(day.incident().bisection == again.id);
  for (int i = 0; i < 2; ++i) {
    day.carry_out();
    CHECK(day.culprit() == first);
    const auto messages = day.messages();
    // Each comment follows an edit of the issue's text.
    REQUIRE(messages.size() == before + 4);
    CHECK_THAT(messages[before + 1].body, Contains("only a test"));
    CHECK_THAT(messages[before + 2].body, Catch::StartsWith("*Now:* searched again"));
    CHECK_THAT(messages[before + 3].body,
               Contains("The second search has ended") && Contains(short_sha(*first)));
  }
  CHECK(day.database().check_invariants().value().empty());
}

TEST_CASE("a search that cannot be read keeps no disputed one from its report") {
  const ReportedDay day;
  storage::BisectionStore bisections(day.database());
  storage::BisectionRow row;
  row.incident = 1;
  row.good = row.bad = "c92f00125500";
  row.spec_json = R"({"written":"by another program"})";
  const auto unreadable = bisections.open(row).value();
  REQUIRE(bisections.end(unreadable, to_json(bisection::BisectionResult{}), 1));
  REQUIRE(triage::dispute_incident(day.services(), 1, {"ada", "only a test"}));
  day.carry_out();
  CHECK_THAT(day.messages().back().body, Contains("The second search has ended"));
}

TEST_CASE("a bisection whose incident is lost ends alone, and the disputed ones are searched") {
  const ReportedDay day;
  storage::BisectionStore bisections(day.database());
  const auto lost = triage::dispute_incident(day.services(), 1, {"ada", "only a test"}).value();
  const auto again = triage::dispute_incident(day.services(), 2, {"ada", "only a test"}).value();
  day.execute("UPDATE bisection SET incident_id = 99 WHERE id = " + std::to_string(lost.id));
  day.carry_out();
  const auto ended = bisections.get(lost.id).value();
  CHECK(ended.state == storage::BisectionState::ended);
  CHECK_THAT(ended.result_json, Contains("incident 99"));
  CHECK(bisections.get(again.id).value().state == storage::BisectionState::ended);
}

TEST_CASE("a retest of a change that is still there leaves the incident open, and is due once") {
  const ReportedDay day;
  const auto retest = triage::retest_incident(day.services(), 1).value();
  CHECK(retest.is_new);
  const auto again = triage::retest_incident(day.services(), 1).value();
  CHECK_FALSE(again.is_new);
  CHECK(again.comparison.id == retest.comparison.id);
  CHECK(report::rechecks_of(day.database(), day.incident()).value().at(0).outcome ==
        report::RecheckOutcome::due);
  day.carry_out();
  CHECK(storage::ComparisonStore(day.database()).get(retest.comparison.id).value().state ==
        storage::ComparisonState::reported);
  CHECK(day.incident().state == storage::IncidentState::open);
  const auto rechecks = report::rechecks_of(day.database(), day.incident()).value();
  REQUIRE(rechecks.size() == 1);
  CHECK(rechecks[0].outcome == report::RecheckOutcome::still_there);
  CHECK(rechecks[0].comparison.id == retest.comparison.id);
  CHECK_FALSE(rechecks[0].worse.empty());
  CHECK(rechecks[0].candidate == "2026-08-17");
}

TEST_CASE("an incident that is closed can be neither disputed nor tested again") {
  const ReportedDay day;
  REQUIRE(decide_incident(day.services(), 1, DecisionKind::closed, {"ada", ""}));
  CHECK(triage::dispute_incident(day.services(), 1, {"ada", "no"}).error().code ==
        ErrorCode::conflict);
  CHECK(triage::retest_incident(day.services(), 1).error().code == ErrorCode::conflict);
  CHECK(decide_incident(day.services(), 1, DecisionKind::reopened, {"ada", ""}));
  CHECK(triage::dispute_incident(day.services(), 1, {" ", "no"}).error().code ==
        ErrorCode::invalid);
}

TEST_CASE("each decision is a message of its own, which closes the issue or opens it again") {
  const ReportedDay day;
  const auto before = day.messages().size();
  const auto decide = [&](DecisionKind kind, const std::string& reason) {
    REQUIRE(decide_incident(day.services(), 1, kind, {"ada", reason}));
    return day.messages().back();
  };
  CHECK(decide(DecisionKind::acknowledged, "").kind == OutboxKind::edit);
  CHECK_THAT(day.messages().back().body, Catch::StartsWith("*Now:* acknowledged by `ada`."));
  const auto closed = decide(DecisionKind::closed, "mended by `c92f0012`");
  CHECK(closed.kind == OutboxKind::close);
  CHECK_THAT(closed.body, Catch::StartsWith("Closed by `ada`: `` mended by `c92f0012` ``"));
  const auto reopened = decide(DecisionKind::reopened, "it is not");
  CHECK(reopened.kind == OutboxKind::reopen);
  CHECK_THAT(reopened.body, Catch::StartsWith("Opened again by `ada`: `it is not`"));
  for (int i = 0; i < 2; ++i) {
    CHECK(decide(DecisionKind::accepted, "the price").kind == OutboxKind::close);
    CHECK(decide(DecisionKind::reopened, "").kind == OutboxKind::reopen);
  }
  CHECK(day.messages().size() == before + 1 + 2 * 6);
  CHECK(day.incident().state == storage::IncidentState::open);
  CHECK(day.database().check_invariants().value().empty());
}

TEST_CASE("an incident without an issue is decided on, and nothing is sent") {
  const ReportedDay day;
  day.execute("DELETE FROM outbox WHERE incident_id = 1");
  REQUIRE(decide_incident(day.services(), 1, DecisionKind::closed, {"ada", "mended"}));
  CHECK(day.messages().empty());
  CHECK(day.incident().decisions.size() == 1);
}
