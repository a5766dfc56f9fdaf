#include <catch2/catch.hpp>

#include "stores.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct OneBisection : FreshStores {
  BisectionStore& bisections = stores.bisections;
  BisectionRow bisection = opened(std::nullopt);

  BisectionRow opened(std::optional<Id> incident) {
    BisectionRow row;
    row.incident = incident;
    row.good = "aaa";
    row.bad = "bbb";
    row.spec_json = "{\"series\":[]}";
    row.created_at = 5;
    return bisections.open(row).value();
  }
};

}  // namespace

TEST_CASE_METHOD(OneBisection, "a bisection is the replay of its events") {
  REQUIRE(bisections.append(bisection.id, {0, "built", "{\"sha\":\"a\"}"}));
  REQUIRE(bisections.append(bisection.id, {1, "probed", "{}"}));
  const auto events = bisections.events_of(bisection.id).value();
  REQUIRE(events.size() == 2);
  REQUIRE(events[0].kind == "built");
  REQUIRE(events[0].body_json == "{\"sha\":\"a\"}");
  REQUIRE(events[1].ordinal == 1);
}

TEST_CASE_METHOD(OneBisection, "an event that is not the next one is refused") {
  REQUIRE(bisections.append(bisection.id, {1, "k", ""}).error().code == ErrorCode::conflict);
  REQUIRE(bisections.append(bisection.id, {0, "k", ""}));
  REQUIRE(bisections.append(bisection.id, {0, "k", ""}).error().code == ErrorCode::conflict);
  REQUIRE(bisections.append(77, {0, "k", ""}).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneBisection, "a bisection ends once, with its result, and takes no event then") {
  REQUIRE(bisections.unfinished().value().size() == 1);
  REQUIRE(bisections.end(bisection, "{\"culprit\":null}", 9));
  REQUIRE(bisections.end(bisection, "{}", 10).error().code == ErrorCode::conflict);
  REQUIRE(bisections.append(bisection.id, {0, "k", ""}).error().code == ErrorCode::conflict);
  const auto row = bisections.get(bisection.id).value();
  REQUIRE(row.state == BisectionState::ended);
  REQUIRE(row.result_json == "{\"culprit\":null}");
  REQUIRE(row.ended_at == 9);
  REQUIRE(bisections.unfinished().value().empty());
  REQUIRE(bisections.list(10).value().size() == 1);
}

TEST_CASE_METHOD(OneBisection,
                 "the first search of a cancelled comparison rests, a second does not") {
  const auto comparison = comparison_of_two(stores);
  const auto incident = stores.incidents.open(incident_of(comparison, "k")).value();
  REQUIRE(bisections.end(bisection, "{}", 9));
  const auto first = opened(incident.id);
  const auto are_unfinished = [&](const std::vector<Id>& expected) {
    std::vector<Id> ids;
    const auto rows = bisections.unfinished().value();
    for (const auto& row : rows) ids.push_back(row.id);
    return ids == expected;
  };
  CHECK(are_unfinished({first.id}));
  REQUIRE(stores.comparisons.cancel(comparison.id, "by a person", 10));
  CHECK(are_unfinished({}));
  REQUIRE(stores.comparisons.retry(comparison.id));
  CHECK(are_unfinished({first.id}));
  REQUIRE(stores.comparisons.cancel(comparison.id, "by a person", 11));
  REQUIRE(bisections.end(first, "{}", 12));
  CHECK(are_unfinished({opened(incident.id).id}));
}

TEST_CASE_METHOD(OneBisection, "an incident has one open bisection") {
  const auto comparison = comparison_of_two(stores);
  const auto incident = stores.incidents.open(incident_of(comparison, "k")).value();
  const auto first = opened(incident.id);
  BisectionRow second;
  second.incident = incident.id;
  REQUIRE(bisections.open(second).error().code == ErrorCode::conflict);
  REQUIRE(bisections.end(first, "{}", 1));
  REQUIRE(bisections.open(second));
}

TEST_CASE_METHOD(FreshStores, "a request delivered twice is one request") {
  auto& requests = stores.requests;
  const auto [first, is_new] = requests.receive("d1", RequestKind::nightly, "{}", 1).value();
  const auto [again, is_new_again] = requests.receive("d1", RequestKind::nightly, "x", 2).value();
  REQUIRE(is_new);
  REQUIRE_FALSE(is_new_again);
  REQUIRE(again.id == first.id);
  REQUIRE(again.body_json == "{}");
}

TEST_CASE_METHOD(FreshStores,
                 "requests are taken in order, answered once, and reopened after a death") {
  auto& requests = stores.requests;
  const auto first = requests.receive("d1", RequestKind::nightly, "{}", 1).value().first;
  const auto second = requests.receive("d2", RequestKind::bisection, "{}", 1).value().first;
  REQUIRE(requests.with_state(RequestState::pending).value().at(0).id == first.id);
  REQUIRE(requests.claim(first.id).value().state == RequestState::running);
  REQUIRE(requests.claim(first.id).error().code == ErrorCode::conflict);
  REQUIRE(requests.with_state(RequestState::pending).value().at(0).delivery == "d2");
  REQUIRE(requests.note(first.id, "{\"comparison\":4}"));
  REQUIRE(requests.reopen(first.id));
  REQUIRE(requests.with_state(RequestState::pending).value().size() == 2);
  REQUIRE(requests.get(first.id).value().result_json == "{\"comparison\":4}");
  REQUIRE(requests.answer(first.id, RequestState::done, "{\"ok\":1}"));
  REQUIRE(requests.answer(first.id, RequestState::failed, "").error().code == ErrorCode::conflict);
  REQUIRE(requests.answer(second.id, RequestState::running, "").error().code == ErrorCode::invalid);
  SetbackStore setbacks(*stores.database);
  const ItemKey waits{ItemKind::request, std::to_string(second.id)};
  REQUIRE(
      setbacks.record({.key = waits, .setbacks = 1, .since = 1, .not_before = 2, .error = "full"}));
  REQUIRE(requests.answer(second.id, RequestState::cancelled, "{}"));
  CHECK_FALSE(setbacks.find(waits).value());
  REQUIRE(requests.list(10).value().at(0).state == RequestState::cancelled);
  REQUIRE(requests.get(first.id).value().result_json == "{\"ok\":1}");
}
