#include <catch2/catch.hpp>

#include "raw_sql.hpp"
#include "stores.hpp"
#include "torchwatch/outbox/notice_store.hpp"
#include "torchwatch/storage/event_store.hpp"
#include "torchwatch/tracker/conversation_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct IncidentWithMessages : FreshStores {
  ComparisonRow comparison = comparison_of_two(stores);
  IncidentStore& incidents = stores.incidents;
  OutboxStore& outbox = stores.outbox;
  IncidentRow incident = incidents.open(incident_of(comparison, "k1")).value();

  void queue(const std::string& key, OutboxKind kind) {
    REQUIRE(outbox.queue(message_of(incident, key, kind)));
  }
  std::string next_key(WallMillis now = 0) {
    const auto next = outbox.next_due(now).value();
    return next ? next->key : "none";
  }
};

}  // namespace

TEST_CASE_METHOD(IncidentWithMessages, "a message queued twice is one message") {
  queue("m1", OutboxKind::open);
  queue("m1", OutboxKind::open);
  const auto rows = outbox.of_incident(incident.id).value();
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].state == OutboxState::pending);
  REQUIRE(rows[0].digest.size() == 64);
}

TEST_CASE_METHOD(IncidentWithMessages, "an incident opens one issue, whatever the keys") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.queue(message_of(incident, "m2", OutboxKind::open)).error().code ==
          ErrorCode::conflict);
}

TEST_CASE_METHOD(IncidentWithMessages, "a message goes pending, sending, sent, each once") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sent("m1", 5, 1000).error().code == ErrorCode::conflict);
  const auto sending = outbox.mark_sending("m1").value();
  REQUIRE(sending.state == OutboxState::sending);
  REQUIRE(outbox.mark_sending("m1").error().code == ErrorCode::conflict);
  REQUIRE(outbox.mark_sent("m1", 42, 1000));
  REQUIRE(outbox.mark_sent("m1", 43, 1000).error().code == ErrorCode::conflict);
  REQUIRE(outbox.record_failure("m1", {.error = "e", .give_up = true}).error().code ==
          ErrorCode::conflict);
  REQUIRE(incidents.get(incident.id).value().issue_number == 42);
  REQUIRE(outbox.of_incident(incident.id).value().at(0).issue_number == 42);
  REQUIRE(next_key() == "none");
  REQUIRE(outbox.mark_sending("m9").error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(IncidentWithMessages, "a failed message waits for its date and is tried again") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.record_failure("m1", {.error = "502", .not_before = 500}));
  REQUIRE(next_key(499) == "none");
  REQUIRE(next_key(500) == "m1");
  REQUIRE(outbox.next_due(500).value()->last_error == "502");
  REQUIRE(outbox.mark_sending("m1"));
}

TEST_CASE_METHOD(IncidentWithMessages, "a clock that was years ahead holds no message back") {
  constexpr WallMillis kYear = 365LL * 24 * 3600 * 1000;
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.record_failure("m1", {.error = "502", .not_before = 3 * kYear + 500}));
  REQUIRE(next_key(3 * kYear) == "none");
  REQUIRE(next_key(10) == "m1");
}

TEST_CASE_METHOD(IncidentWithMessages,
                 "a message that was given up can be retried, one that was sent not") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.record_failure(
      "m1", {.error = "422", .tries = 3, .failures = 3, .not_before = 9, .give_up = true}));
  REQUIRE(outbox.unsent().value().size() == 1);
  const auto again = outbox.retry("m1").value();
  REQUIRE(again.state == OutboxState::pending);
  REQUIRE(again.tries == 0);
  REQUIRE(next_key(0) == "m1");
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.mark_sent("m1", 42, 1000));
  REQUIRE(outbox.retry("m1").error().code == ErrorCode::conflict);
  REQUIRE(outbox.retry("m9").error().code == ErrorCode::not_found);
  REQUIRE(outbox.unsent().value().empty());
}

TEST_CASE_METHOD(
    IncidentWithMessages,
    "a message whose text is damaged is given up, and keeps no other from being sent") {
  queue("m1", OutboxKind::open);
  const auto other = incidents.open(incident_of(comparison, "k2")).value();
  REQUIRE(outbox.queue(message_of(other, "n1", OutboxKind::open)));
  REQUIRE(outbox.queue(message_of(other, "n2", OutboxKind::comment)));
  test::raw_sql(path, "UPDATE outbox SET body = 'another' WHERE key IN ('m1', 'n2')");
  const auto listed = outbox.unsent().value();
  REQUIRE(listed.size() == 3);
  REQUIRE_THAT(listed[0].last_error, Catch::Contains("does not match its digest"));
  REQUIRE(listed[1].last_error.empty());
  REQUIRE(next_key() == "n1");
  REQUIRE(outbox.subject_of("n1").value().messages.size() == 2);
  REQUIRE(outbox.subject_of("n2").error().code == ErrorCode::corrupt);
  REQUIRE(outbox.unsent().value()[0].state == OutboxState::dead);
  REQUIRE(outbox.retry("m1").error().code == ErrorCode::corrupt);
  REQUIRE(outbox.mark_sending("n1"));
  REQUIRE(outbox.mark_sent("n1", 42, 1000));
  REQUIRE(next_key() == "none");
}

TEST_CASE_METHOD(IncidentWithMessages, "waiting messages can be made due") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.record_failure("m1", {.error = "401", .failures = 7, .not_before = 500}));
  REQUIRE(next_key(0) == "none");
  REQUIRE(outbox.make_due());
  REQUIRE(next_key(0) == "m1");
}

TEST_CASE_METHOD(IncidentWithMessages, "messages of one incident keep their order") {
  queue("m1", OutboxKind::open);
  queue("m2", OutboxKind::comment);
  const auto other = incidents.open(incident_of(comparison, "k2")).value();
  REQUIRE(outbox.queue(message_of(other, "n1", OutboxKind::open)));
  REQUIRE(next_key() == "m1");
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.record_failure("m1", {.error = "502", .not_before = 500}));
  REQUIRE(next_key(10) == "n1");
  REQUIRE(next_key(500) == "m1");
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.mark_sent("m1", 42, 1000));
  REQUIRE(next_key(10) == "m2");
}

TEST_CASE_METHOD(IncidentWithMessages, "a message that has failed lets the others go first") {
  queue("m1", OutboxKind::open);
  const auto other = incidents.open(incident_of(comparison, "k2")).value();
  REQUIRE(outbox.queue(message_of(other, "n1", OutboxKind::open)));
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.record_failure("m1", {.error = "403", .failures = 1, .not_before = 5}));
  REQUIRE(next_key(10) == "n1");
  REQUIRE(outbox.mark_sending("n1"));
  REQUIRE(outbox.mark_sent("n1", 43, 1000));
  REQUIRE(next_key(10) == "m1");
}

TEST_CASE_METHOD(IncidentWithMessages,
                 "a message that was being sent when its process died is due at once") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  const auto next = outbox.next_due(0).value();
  REQUIRE(next->key == "m1");
  REQUIRE(next->state == OutboxState::sending);
}

TEST_CASE_METHOD(IncidentWithMessages,
                 "nothing follows a dead opening, and the rest follows a dead comment") {
  queue("m1", OutboxKind::open);
  queue("m2", OutboxKind::comment);
  queue("m3", OutboxKind::close);
  REQUIRE(outbox.mark_sending("m1"));
  SECTION("the opening is dead") {
    REQUIRE(outbox.record_failure("m1", {.error = "410", .give_up = true}));
    REQUIRE(next_key() == "none");
  }
  SECTION("the comment is dead") {
    REQUIRE(outbox.mark_sent("m1", 42, 1000));
    REQUIRE(outbox.mark_sending("m2"));
    REQUIRE(outbox.record_failure("m2", {.error = "422", .give_up = true}));
    REQUIRE(next_key() == "m3");
  }
}

TEST_CASE_METHOD(IncidentWithMessages,
                 "a message and the change that causes it are stored together or not at all") {
  const auto failed = stores.database->transact([&]() -> Status {
    TW_TRY_VOID(incidents.close(incident.id, {"ada", "", 5}));
    TW_TRY_VOID(outbox.queue(message_of(incident, "m1", OutboxKind::close)));
    return fail(ErrorCode::cancelled, "stop");
  });
  REQUIRE(failed.error().code == ErrorCode::cancelled);
  REQUIRE(incidents.get(incident.id).value().state == IncidentState::open);
  REQUIRE(outbox.of_incident(incident.id).value().empty());
}

TEST_CASE_METHOD(
    IncidentWithMessages,
    "what goes elsewhere about an issue waits until it is there, and not for its comments") {
  for (const auto& [key, kind] :
       {std::pair{"p1", OutboxKind::pull_comment}, std::pair{"a1", OutboxKind::edit},
        std::pair{"w1", OutboxKind::webhook}}) {
    auto row = message_of(incident, key, kind);
    row.target = "elsewhere/" + std::string(key);
    REQUIRE(outbox.queue(row));
  }
  queue("m1", OutboxKind::open);
  queue("m2", OutboxKind::comment);
  for (const auto* key : {"w1", "m1", "p1", "a1", "m2"}) {
    REQUIRE(next_key() == key);
    REQUIRE(outbox.mark_sending(key));
    REQUIRE(outbox.mark_sent(key, 42, 1000));
  }
  REQUIRE(next_key() == "none");
}

TEST_CASE_METHOD(IncidentWithMessages,
                 "a sender gets only messages of the kinds that it delivers") {
  queue("m1", OutboxKind::open);
  OutboxRow webhook;
  webhook.key = "w1";
  webhook.kind = OutboxKind::webhook;
  webhook.target = "webhook/chat";
  webhook.body = "{}";
  REQUIRE(outbox.queue(webhook));
  const auto next = [&](const std::vector<OutboxKind>& kinds) {
    const auto row = outbox.next_due(0, kinds).value();
    return row ? row->key : "none";
  };
  CHECK(next({OutboxKind::webhook, OutboxKind::mail}) == "w1");
  CHECK(next({OutboxKind::open, OutboxKind::comment}) == "m1");
  CHECK(next({OutboxKind::mail}) == "none");
}

TEST_CASE_METHOD(IncidentWithMessages,
                 "what follows an issue of another repository waits until that is configured") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.mark_sent("m1", 1, 1000, "", "a/b"));
  queue("m2", OutboxKind::comment);
  auto author = message_of(incident, "m3", OutboxKind::edit);
  author.target = "author/c0ffee";
  REQUIRE(outbox.queue(author));
  OutboxRow reply = message_of("r1");
  reply.kind = OutboxKind::reply;
  reply.target = "comment/5";
  reply.repository = "a/b";
  REQUIRE(outbox.queue(reply));
  reply.key = "r2";
  reply.repository = "";
  REQUIRE(outbox.queue(reply));
  const auto next = [&](const std::string& repository) {
    const auto row = outbox.next_due(0, {}, repository).value();
    return row ? row->key : "none";
  };
  CHECK(next("c/d") == "none");
  CHECK(next("A/B") == "m2");
  const auto other = incidents.open(incident_of(comparison, "k2")).value();
  REQUIRE(outbox.queue(message_of(other, "n1", OutboxKind::open)));
  CHECK(next("c/d") == "n1");
  REQUIRE(outbox.mark_sending("n1"));
  REQUIRE(outbox.mark_sent("n1", 1, 1000, "", "c/d"));
  CHECK(stores.database->check_invariants().value().empty());

  ConversationStore talk(*stores.database);
  CHECK(talk.incident_of_issue(1, "a/b").value() == incident.id);
  CHECK(talk.incident_of_issue(1, "C/D").value() == other.id);
  CHECK_FALSE(talk.incident_of_issue(1, "e/f").value());
  CHECK(talk.open_issues("a/b").value().size() == 1);

  REQUIRE(outbox.move_issues("a/b", "c/d"));
  CHECK(next("c/d") == "m2");
  REQUIRE(outbox.filed_in().value().size() == 1);
  CHECK(outbox.filed_in().value().front().issues == 2);
}

TEST_CASE_METHOD(IncidentWithMessages, "nothing is filed of what was over a day before") {
  constexpr WallMillis kDay = 24LL * 3600 * 1000;
  const auto tried = incidents.open(incident_of(comparison, "k2")).value();
  const auto open = incidents.open(incident_of(comparison, "k3")).value();
  for (const auto& row : {incident, tried, open}) {
    const auto id = std::to_string(row.id);
    REQUIRE(outbox.queue(message_of(row, "open-" + id, OutboxKind::open)));
    REQUIRE(outbox.queue(message_of(row, "close-" + id, OutboxKind::close)));
  }
  REQUIRE(outbox.mark_sending("open-2"));
  REQUIRE(outbox.record_failure("open-2", {.error = "502", .failures = 1}));
  for (const auto id : {incident.id, tried.id}) REQUIRE(incidents.close(id, {"ada", "", 5000}));
  REQUIRE(outbox.leave_out_ended(5000 + kDay));
  CHECK(outbox.unsent().value().size() == 6);
  REQUIRE(outbox.leave_out_ended(5001 + kDay));
  CHECK(outbox.unsent().value().size() == 4);
  CHECK(outbox.of_incident(incident.id).value().empty());
  CHECK(incidents.get(incident.id).value().unfiled == "it was over before an issue could be filed");
  CHECK(incidents.get(tried.id).value().unfiled.empty());
}

TEST_CASE_METHOD(IncidentWithMessages, "nothing waits for an issue that is gone") {
  queue("m1", OutboxKind::open);
  REQUIRE(outbox.mark_sending("m1"));
  REQUIRE(outbox.mark_sent("m1", 42, 1000));
  queue("m2", OutboxKind::comment);
  auto author = message_of(incident, "m3", OutboxKind::edit);
  author.target = "author/c0ffee";
  REQUIRE(outbox.queue(author));
  for (const int issue : {42, 43}) {
    auto reply = message_of("r" + std::to_string(issue));
    reply.kind = OutboxKind::reply;
    reply.target = "comment/" + std::to_string(issue);
    reply.title = "issue/" + std::to_string(issue);
    REQUIRE(outbox.queue(reply));
  }
  REQUIRE(ConversationStore(*stores.database).mark_gone(incident.id, "issue 42 was deleted"));
  REQUIRE(outbox.unsent().value().size() == 1);
  CHECK(outbox.unsent().value().front().key == "r43");
}

TEST_CASE_METHOD(FreshStores,
                 "a receiver begins behind the newest event and continues where it was") {
  const auto comparison = comparison_of_two(stores);
  NoticeStore notices(*stores.database);
  const auto begins = notices.told("chat").value();
  CHECK(begins == EventStore(*stores.database).kept().value().newest);
  REQUIRE(notices.note("chat", begins + 5));
  CHECK(notices.told("chat").value() == begins + 5);
  REQUIRE(stores.incidents.open(incident_of(comparison, "k2")));
  CHECK(notices.told("list").value() > begins);
}
