#include "torchwatch/storage/event_store.hpp"

#include <catch2/catch.hpp>

#include "query.hpp"
#include "stores.hpp"
#include "transaction.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

std::vector<std::string> texts_after(Database& database, Id event = 0) {
  std::vector<std::string> texts;
  const auto rows = EventStore(database).after(event, 100).value();
  for (const auto& row : rows) {
    texts.push_back(row.kind + " " + row.item + " " + row.state);
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(FreshStores, "every change of state is an event, and nothing else is") {
  const auto comparison = comparison_of_two(stores);
  const auto planned = stores.comparisons.set_plan(comparison, "{}").value();
  REQUIRE(stores.comparisons.advance(planned, ComparisonState::judged, 1));
  const auto incident = stores.incidents.open(incident_of(comparison, "k")).value();
  REQUIRE(stores.outbox.queue(message_of(incident, "m", OutboxKind::open)));
  BisectionRow search;
  search.incident = incident.id;
  search = stores.bisections.open(search).value();
  REQUIRE(stores.incidents.attach_bisection(incident.id, search.id));
  REQUIRE(stores.bisections.append(search.id, {0, "probed", "{}"}));
  REQUIRE(stores.bisections.end(search, "{}", 2));
  REQUIRE(stores.outbox.mark_sending("m"));
  REQUIRE(stores.outbox.record_failure("m", {.error = "no network"}));
  REQUIRE(stores.outbox.mark_sending("m"));
  REQUIRE(stores.outbox.mark_sent("m", 7, 1000));
  const auto request = stores.requests.receive("d", RequestKind::nightly, "{}", 1).value().first;
  REQUIRE(stores.requests.claim(request.id));
  REQUIRE(stores.requests.answer(request.id, RequestState::done, "{}"));
  REQUIRE(stores.incidents.close(incident.id, {"ada", "", 3}));
  CHECK(texts_after(*stores.database) ==
        Texts{"comparison 1 discovered", "comparison 1 judged", "incident 1 open",
              "message m pending", "bisection 1 open", "incident 1 open", "bisection 1 open",
              "bisection 1 ended", "message m pending", "message m sent", "incident 1 open",
              "request 1 pending", "request 1 running", "request 1 done", "incident 1 closed"});
}

TEST_CASE_METHOD(FreshStores, "what was rolled back is not an event") {
  const auto failed = stores.database->transact([&]() -> Status {
    comparison_of_two(stores);
    return fail(ErrorCode::unavailable, "no");
  });
  REQUIRE_FALSE(failed);
  CHECK(texts_after(*stores.database).empty());
}

TEST_CASE_METHOD(FreshStores, "the numbers of events only grow, also after the file was closed") {
  comparison_of_two(stores);
  const auto newest = EventStore(*stores.database).kept().value().newest;
  CHECK(newest == 1);
  stores.database.reset();
  Stores again(path);
  REQUIRE(again.comparisons.cancel(1, "by hand", 1));
  CHECK(texts_after(*again.database, newest) == Texts{"comparison 1 cancelled"});
  CHECK(EventStore(*again.database).kept().value().newest == 2);
}

TEST_CASE_METHOD(FreshStores, "the newest ten thousand events are kept") {
  REQUIRE(write(*stores.database, [](Connection& connection) -> Status {
    for (int i = 0; i < 10'050; ++i) {
      execute(connection, "INSERT INTO event (kind, item, state) VALUES ('request', '1', 'x')");
    }
    return {};
  }));
  const auto kept = EventStore(*stores.database).kept().value();
  CHECK(kept.oldest == 51);
  CHECK(kept.newest == 10'050);
}

TEST_CASE_METHOD(FreshStores,
                 "who listens hears of each change that is committed, and of nothing else") {
  int commits = 0;
  auto listening = stores.database->on_commit([&] { ++commits; });
  comparison_of_two(stores);
  const int after_writing = commits;
  CHECK(after_writing > 0);
  REQUIRE(stores.comparisons.list(10));
  REQUIRE_FALSE(stores.database->transact([] { return fail(ErrorCode::invalid, "no"); }));
  CHECK(commits == after_writing);
  const auto changes_nothing = [](Connection& connection) -> Status {
    execute(connection, "DELETE FROM event WHERE kind = 'of nobody'");
    return {};
  };
  REQUIRE(write(*stores.database, changes_nothing));
  CHECK(commits == after_writing);
  listening.reset();
  REQUIRE(stores.comparisons.cancel(1, "by hand", 1));
  CHECK(commits == after_writing);
}
