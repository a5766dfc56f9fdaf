#include "torchwatch/outbox/alarm_store.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct Alarms : FreshStores {
  AlarmStore alarms{*stores.database};

  AlarmRow raise(AlarmCause cause) {
    return alarms
        .raise({.cause = cause, .since = 100, .raised_at = 900, .issue_number = {}},
               message_of("open-" + std::string(to_string(cause))))
        .value();
  }

  std::string next_key() {
    const auto next = stores.outbox.next_due(1'000'000).value();
    return next ? next->key : "none";
  }

  void send(const std::string& key, std::int64_t issue) {
    REQUIRE(stores.outbox.mark_sending(key));
    REQUIRE(stores.outbox.mark_sent(key, issue, 1000 + issue));
  }
};

}  // namespace

TEST_CASE_METHOD(Alarms, "an alarm goes through the outbox as an issue that is opened and closed") {
  const auto alarm = raise(AlarmCause::no_nightly);
  REQUIRE(next_key() == "open-no_nightly");
  const auto subject = stores.outbox.subject_of(next_key()).value();
  REQUIRE(subject.since == 900);
  REQUIRE(subject.messages.size() == 1);
  REQUIRE(alarms.end(alarm, message_of("end"), 2000));
  REQUIRE(next_key() == "open-no_nightly");
  send(next_key(), 41);
  REQUIRE(next_key() == "end");
  const auto messages = stores.outbox.subject_of(next_key()).value().messages;
  REQUIRE(messages.size() == 2);
  REQUIRE(messages.at(0).issue_number == 41);
  REQUIRE(messages.at(1).kind == OutboxKind::close);
  send(next_key(), 41);
  REQUIRE(next_key() == "none");
  REQUIRE(alarms.times().value().last_delivery == 1041);
  REQUIRE(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(Alarms, "a cause has one open alarm at a time, and another one later") {
  const auto first = raise(AlarmCause::no_verdict);
  REQUIRE(alarms.raise(first, message_of("x")).error().code == ErrorCode::conflict);
  raise(AlarmCause::no_nightly);
  REQUIRE(alarms.open().value().size() == 2);
  REQUIRE(alarms.end(first, message_of("end"), 2000));
  REQUIRE(alarms.end(first, message_of("again"), 2001).error().code == ErrorCode::conflict);
  REQUIRE(alarms.open().value().size() == 1);
  REQUIRE(alarms.raise(first, message_of("second")).value().id != first.id);
}

TEST_CASE_METHOD(Alarms, "the messages of an alarm and of an incident do not wait for each other") {
  raise(AlarmCause::no_nightly);
  const auto incident = stores.incidents.open(incident_of(comparison_of_two(stores), "k1")).value();
  REQUIRE(stores.outbox.queue(message_of(incident, "m1", OutboxKind::open)));
  send("open-no_nightly", 7);
  REQUIRE(stores.incidents.get(incident.id).value().issue_number == std::nullopt);
  REQUIRE(alarms.open().value().at(0).issue_number == 7);
  REQUIRE(next_key() == "m1");
  REQUIRE(stores.outbox.subject_of("m1").value().messages.size() == 1);
}

TEST_CASE_METHOD(Alarms, "the first drill that missed its slowdown counts until one is found") {
  auto& comparisons = stores.comparisons;
  const auto build = comparison_of_two(stores).candidate;
  const auto drill = [&](Verdict verdict, WallMillis at) {
    const auto row = comparisons.open({Purpose::drill, build, build}, at).value();
    VerdictRow judged;
    judged.comparison = row.id;
    judged.series = {kBenchmark, Metric::time};
    judged.verdict = verdict;
    judged.reason = "drilled";
    REQUIRE(comparisons.add_verdict(judged));
    REQUIRE(comparisons.advance(row, ComparisonState::reported, at));
    return alarms.times().value().missed_drill;
  };
  CHECK_FALSE(drill(Verdict::regressed, 2000));
  CHECK_FALSE(drill(Verdict::inconclusive, 3000));
  CHECK(drill(Verdict::unchanged, 4000) == 4000);
  CHECK(drill(Verdict::failed, 5000) == 4000);
  CHECK(drill(Verdict::improved, 6000) == 4000);
  CHECK_FALSE(drill(Verdict::regressed, 7000));
}

TEST_CASE_METHOD(Alarms, "the times of the data say what came last and what is still missing") {
  auto& comparisons = stores.comparisons;
  REQUIRE_FALSE(alarms.times().value().last_nightly);
  REQUIRE_FALSE(alarms.times().value().last_comparison);
  const auto first = comparison_of_two(stores);  // at 1000
  const auto third = ready_build(stores.builds, "n3", "h3");
  const auto second = comparisons.open({Purpose::nightly, third.id, first.candidate}, 5000).value();
  auto times = alarms.times().value();
  REQUIRE(times.first_nightly == 1000);
  REQUIRE(times.last_nightly == 5000);
  REQUIRE(times.without_verdict == 1000);
  REQUIRE_FALSE(times.last_self_test);
  REQUIRE_FALSE(times.undelivered);

  REQUIRE(comparisons.advance(first, ComparisonState::reported, 6000));
  REQUIRE(alarms.times().value().without_verdict == 5000);
  REQUIRE(comparisons.advance(second, ComparisonState::reported, 7000));
  const auto incident = stores.incidents.open(incident_of(second, "k1")).value();
  REQUIRE(stores.outbox.queue(message_of(incident, "m1", OutboxKind::open)));
  const auto test = comparisons.open({Purpose::self_test, third.id, third.id}, 7500).value();
  REQUIRE(comparisons.advance(test, ComparisonState::reported, 8000));
  times = alarms.times().value();
  REQUIRE(times.last_nightly == 5000);
  REQUIRE(times.last_comparison == 7500);
  REQUIRE_FALSE(times.without_verdict);
  REQUIRE(times.last_self_test == 8000);
  // How old the incident is says nothing: its message may have been queued just now.
  REQUIRE_FALSE(times.undelivered);
  OutboxWaits waits(*stores.database);
  REQUIRE(waits.note(8500));
  REQUIRE_FALSE(alarms.times().value().undelivered);
  REQUIRE(waits.note(9000, false));
  REQUIRE(waits.note(9500, false));
  REQUIRE(alarms.times().value().undelivered == 9000);
  send("m1", 1);
  REQUIRE_FALSE(alarms.times().value().undelivered);
}
