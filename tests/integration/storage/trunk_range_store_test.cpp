#include "torchwatch/runs/trunk_range_store.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

TEST_CASE_METHOD(FreshStores, "how many commits can change the library is stored once") {
  TrunkRangeStore ranges(*stores.database);
  const auto comparison = comparison_of_two(stores);
  CHECK(ranges.find(comparison.id).value() == std::nullopt);
  REQUIRE(ranges.record(comparison.id, 12));
  REQUIRE(ranges.record(comparison.id, 7));
  CHECK(ranges.find(comparison.id).value() == 12);
  CHECK(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(FreshStores, "a list of comparisons has the numbers that are stored") {
  TrunkRangeStore ranges(*stores.database);
  const auto first = comparison_of_two(stores);
  const auto open = [&] {
    return stores.comparisons.open({Purpose::requested, first.candidate, first.baseline}, 1)
        .value()
        .id;
  };
  const auto without = open();
  const auto none = open();
  REQUIRE(ranges.record(first.id, 12));
  REQUIRE(ranges.record(none, 0));
  CHECK(ranges.find_each({first.id, without, none}).value() ==
        std::map<Id, std::int64_t>{{first.id, 12}, {none, 0}});
  CHECK(ranges.find_each({without}).value().empty());
  CHECK(ranges.find_each({}).value().empty());
}

TEST_CASE_METHOD(FreshStores, "a number below none, and one of no comparison, are not stored") {
  TrunkRangeStore ranges(*stores.database);
  const auto comparison = comparison_of_two(stores);
  CHECK_FALSE(ranges.record(comparison.id, -1));
  CHECK_FALSE(ranges.record(comparison.id + 1, 3));
  CHECK(ranges.find_each({comparison.id, comparison.id + 1}).value().empty());
}
