#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct OneSearch : FreshStores {
  BisectionStore& bisections = stores.bisections;
  BisectionRow search = opened(std::nullopt);

  BisectionRow opened(std::optional<Id> incident) {
    BisectionRow row;
    row.incident = incident;
    row.good = "aaa";
    row.bad = "bbb";
    row.request_json = "{\"targets\":[]}";
    row.created_at = 5;
    return bisections.opened(row).value();
  }
};

}  // namespace

TEST_CASE_METHOD(OneSearch, "a search is the replay of its events") {
  REQUIRE(bisections.happened(search.id, {0, "built", "{\"sha\":\"a\"}"}));
  REQUIRE(bisections.happened(search.id, {1, "probed", "{}"}));
  const auto events = bisections.events_of(search.id).value();
  REQUIRE(events.size() == 2);
  REQUIRE(events[0].kind == "built");
  REQUIRE(events[0].body_json == "{\"sha\":\"a\"}");
  REQUIRE(events[1].ordinal == 1);
}

TEST_CASE_METHOD(OneSearch, "an event that is not the next one is refused") {
  REQUIRE(bisections.happened(search.id, {1, "k", ""}).error().code == ErrorCode::conflict);
  REQUIRE(bisections.happened(search.id, {0, "k", ""}));
  REQUIRE(bisections.happened(search.id, {0, "k", ""}).error().code == ErrorCode::conflict);
  REQUIRE(bisections.happened(77, {0, "k", ""}).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneSearch, "a search ends once, with its answer, and nothing happens after") {
  REQUIRE(bisections.open_ones().value().size() == 1);
  REQUIRE(bisections.ended(search, "{\"culprit\":null}", 9));
  REQUIRE(bisections.ended(search, "{}", 10).error().code == ErrorCode::conflict);
  REQUIRE(bisections.happened(search.id, {0, "k", ""}).error().code == ErrorCode::conflict);
  const auto row = bisections.get(search.id).value();
  REQUIRE(row.state == BisectionState::ended);
  REQUIRE(row.answer_json == "{\"culprit\":null}");
  REQUIRE(row.ended_at == 9);
  REQUIRE(bisections.open_ones().value().empty());
  REQUIRE(bisections.list(10).value().size() == 1);
}

TEST_CASE_METHOD(OneSearch, "an incident has one open search") {
  const auto night = night_of_two(stores);
  const auto incident = stores.incidents.opened(incident_of(night, "k")).value();
  const auto first = opened(incident.id);
  BisectionRow second;
  second.incident = incident.id;
  REQUIRE(bisections.opened(second).error().code == ErrorCode::conflict);
  REQUIRE(bisections.ended(first, "{}", 1));
  REQUIRE(bisections.opened(second));
}

TEST_CASE_METHOD(FreshStores, "a request delivered twice is one request") {
  auto& requests = stores.requests;
  const auto [first, is_new] = requests.received("d1", RequestKind::nightly, "{}", 1).value();
  const auto [again, is_new_again] = requests.received("d1", RequestKind::nightly, "x", 2).value();
  REQUIRE(is_new);
  REQUIRE_FALSE(is_new_again);
  REQUIRE(again.id == first.id);
  REQUIRE(again.body_json == "{}");
}

TEST_CASE_METHOD(FreshStores,
                 "requests are taken in order, answered once, and reopened after a death") {
  auto& requests = stores.requests;
  const auto first = requests.received("d1", RequestKind::nightly, "{}", 1).value().first;
  REQUIRE(requests.received("d2", RequestKind::bisection, "{}", 1));
  REQUIRE(requests.taken().value()->id == first.id);
  REQUIRE(requests.taken().value()->delivery == "d2");
  REQUIRE_FALSE(requests.taken().value());
  REQUIRE(requests.answered(first.id, RequestState::done, "{\"ok\":1}"));
  REQUIRE(requests.answered(first.id, RequestState::failed, "").error().code ==
          ErrorCode::conflict);
  REQUIRE(requests.answered(first.id, RequestState::running, "").error().code ==
          ErrorCode::invalid);
  REQUIRE(requests.reopened());
  REQUIRE(requests.taken().value()->delivery == "d2");
  REQUIRE(requests.get(first.id).value().result_json == "{\"ok\":1}");
  REQUIRE(requests.list(10).value().size() == 2);
}
