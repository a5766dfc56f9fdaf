#include <algorithm>
#include <catch2/catch.hpp>

#include "raw_sql.hpp"
#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

/// A small reported comparison whose rows are then damaged behind the stores' back.
struct DamagedFile {
  test::MemoryFolder folder;
  std::filesystem::path path = folder.path() / "t.sqlite";

  DamagedFile() {
    Stores stores(path);
    auto comparison = comparison_of_two(stores);
    for (const std::string token : {"t1", "t2"}) {
      REQUIRE(stores.runs.issue(order_of(comparison, token), token, 1));
      REQUIRE(stores.runs.record({{token, full_result(token)}}, 2));
    }
    for (const std::string key : {"k1", "k2"}) {
      const auto incident = stores.incidents.open(incident_of(comparison, key)).value();
      REQUIRE(stores.outbox.queue(message_of(incident, key, OutboxKind::open)));
      REQUIRE(stores.outbox.mark_sending(key));
      REQUIRE(stores.outbox.mark_sent(key, 40 + incident.id, 1000));
    }
    comparison = stores.comparisons.advance(comparison, ComparisonState::reported, 3).value();
    REQUIRE(stores.requests.receive("d1", RequestKind::nightly, "{}", 1));
    REQUIRE(stores.bisections.open({}));
  }

  /// Returns the names of the broken rules.
  std::vector<std::string> broken() const {
    std::vector<std::string> names;
    const auto database = Database::open({path, "", true}).value();
    const auto breaches = database->check_invariants().value();
    for (const auto& breach : breaches) names.push_back(breach.invariant);
    return names;
  }
};

struct Damage {
  std::string rule;
  std::string sql;
};

}  // namespace

TEST_CASE_METHOD(DamagedFile, "a sound file breaks no rule") {
  REQUIRE(broken().empty());
}

TEST_CASE_METHOD(DamagedFile, "every rule notices the damage that it is for") {
  const auto damage = GENERATE(values<Damage>({
      {"comparison_is_not_doubled",
       "DROP INDEX comparison_once; INSERT INTO comparison (purpose, candidate_id, baseline_id, "
       "repetition, "
       "opens_incidents, state, created_at, ended_at) SELECT purpose, candidate_id, baseline_id, "
       "repetition, "
       "0, 'accepted', created_at, ended_at FROM comparison"},
      {"result_belongs_to_a_done_attempt", "UPDATE attempt SET state = 'abandoned' WHERE id = 1"},
      {"done_attempt_has_a_result",
       "DELETE FROM result WHERE attempt_id = 1; DELETE FROM value; DELETE FROM sample; "
       "DELETE FROM covariate; DELETE FROM operator; DELETE FROM operator_figure"},
      {"slot_is_filled_once",
       "DROP INDEX attempt_slot_of_comparison; UPDATE attempt SET slot = 'same'"},
      {"judged_comparison_has_no_open_attempt",
       "UPDATE attempt SET state = 'issued', ended_at = NULL WHERE id = 1"},
      {"ended_bisection_has_no_open_attempt",
       "UPDATE attempt SET state = 'issued', comparison_id = NULL, bisection_id = 1 WHERE id = 1; "
       "UPDATE bisection SET state = 'ended'"},
      {"reported_incident_has_one_message", "DELETE FROM outbox WHERE incident_id = 1"},
      {"reported_incident_has_one_message", "UPDATE incident SET unfiled = 'why' WHERE id = 1"},
      {"issue_belongs_to_one_incident", "UPDATE outbox SET issue_number = 5"},
      {"ready_build_is_verified", "UPDATE build SET content_hash = '' WHERE id = 1"},
      {"one_writer_at_a_time",
       "UPDATE attempt SET state = 'issued' WHERE id = 1; "
       "UPDATE attempt SET fence = 9 WHERE id = 2"},
      {"samples_match_their_digest", "UPDATE sample SET data = zeroblob(8) WHERE kind = 'wall_ns'"},
      {"samples_are_stored_or_thinned",
       "INSERT INTO thinned_sample VALUES (1, 'wall_ns', 5, 1, 1, printf('%064d', 0))"},
      {"messages_match_their_digest", "UPDATE outbox SET body = body || ' ' WHERE id = 1"},
      {"accepted_incident_is_closed",
       "INSERT INTO decision (incident_id, kind, made_by, reason, made_at) "
       "VALUES (1, 'accepted', 'ada', 'wanted', 1); UPDATE incident SET state = 'open', closed_at "
       "= "
       "NULL"},
      {"foreign_key_check", "DELETE FROM build WHERE id = 2"},
      {"integrity_check", "UPDATE comparison SET purpose = 'unheard-of'"},
  }));
  CAPTURE(damage.rule);
  test::raw_sql(path, damage.sql);
  REQUIRE_THAT(broken(), Catch::VectorContains(damage.rule));
}

TEST_CASE_METHOD(DamagedFile, "a delivery stored twice is noticed") {
  test::raw_sql(
      path,
      "CREATE TABLE copy AS SELECT * FROM request; DROP TABLE request; "
      "ALTER TABLE copy RENAME TO request; "
      "INSERT INTO request SELECT 2, delivery, kind, state, body_json, result_json, asked_by, "
      "created_at, token FROM request");
  REQUIRE_THAT(broken(), Catch::VectorContains(std::string("delivery_is_done_once")));
}

TEST_CASE_METHOD(DamagedFile, "a breach shows the rows, a few of them") {
  test::raw_sql(path, "UPDATE sample SET digest = 'x'");
  const auto database = Database::open({path, "", true}).value();
  const auto breaches = database->check_invariants().value();
  const auto samples =
      std::ranges::find(breaches, "samples_match_their_digest", &InvariantBreach::invariant);
  REQUIRE(samples != breaches.end());
  REQUIRE_THAT(samples->rows, Catch::Contains("samples wall_ns of attempt 1"));
  REQUIRE_THAT(samples->rows, Catch::EndsWith("..."));
}

TEST_CASE_METHOD(DamagedFile, "samples and messages that were changed on disk are not handed out") {
  test::raw_sql(path, "UPDATE sample SET data = zeroblob(8); UPDATE outbox SET title = 'x'");
  test::raw_sql(path, "UPDATE environment_fact SET value = 'other CPU' WHERE name = 'cpu'");
  Stores stores(path);
  REQUIRE(stores.runs.samples_of(1).error().code == ErrorCode::corrupt);
  REQUIRE(stores.runs.result_of(1).error().code == ErrorCode::corrupt);
  REQUIRE(stores.outbox.of_incident(1).error().code == ErrorCode::corrupt);
  const auto digest =
      stores.runs.runs_of({OwnerKind::comparison, 1}).value().at(0).environment_digest;
  REQUIRE(stores.runs.environment(digest).error().code == ErrorCode::corrupt);
}

TEST_CASE_METHOD(DamagedFile, "a stored word that is not in the vocabulary is named as damage") {
  test::raw_sql(path, "UPDATE comparison SET state = 'measvred'");
  Stores stores(path);
  const auto error = stores.comparisons.get(1).error();
  REQUIRE(error.code == ErrorCode::damaged);
  REQUIRE_THAT(error.message, Catch::Contains("measvred"));
}
