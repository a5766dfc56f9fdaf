#include "torchwatch/report/newest_nightly.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using report::newest_nightly;
using storage::ComparisonRow;
using storage::ComparisonState;
using storage::Id;

namespace {

ComparisonRow row(Id id, Id candidate, std::optional<Id> baseline, ComparisonState state) {
  ComparisonRow row;
  row.id = id;
  row.candidate = candidate;
  row.baseline = baseline;
  row.state = state;
  return row;
}

}  // namespace

TEST_CASE("the newest nightly is the last of its order, not the one compared last") {
  const std::vector rows{
      row(14, 23, 18, ComparisonState::reported), row(11, 26, 23, ComparisonState::reported),
      row(9, 23, 20, ComparisonState::refused), row(8, 20, 18, ComparisonState::refused)};
  const report::Places places{{18, 1}, {20, 2}, {23, 3}, {26, 4}};
  CHECK(newest_nightly(rows, places).known->id == 11);
  CHECK(newest_nightly(rows, places).judged->id == 11);
}

TEST_CASE("a nightly that comes late is not the newest, though no other is compared with it") {
  const std::vector rows{row(3, 9, 1, ComparisonState::reported),
                         row(2, 2, 1, ComparisonState::reported)};
  const report::Places places{{1, 1}, {9, 2}, {2, 3}};
  CHECK(newest_nightly(rows, places).known->id == 2);
  CHECK(newest_nightly(rows, places).judged->id == 2);
}

TEST_CASE("of a nightly compared twice the later comparison counts") {
  const std::vector rows{row(5, 3, 1, ComparisonState::reported),
                         row(4, 3, 2, ComparisonState::refused),
                         row(3, 2, 1, ComparisonState::failed)};
  CHECK(newest_nightly(rows, {{1, 1}, {2, 2}, {3, 3}}).known->id == 5);
}

TEST_CASE("a nightly without a verdict is the newest that is known, not the newest judged") {
  const std::vector rows{row(3, 3, 2, ComparisonState::ready),
                         row(2, 2, 1, ComparisonState::reported),
                         row(1, 1, std::nullopt, ComparisonState::accepted)};
  const report::Places places{{1, 1}, {2, 2}, {3, 3}};
  CHECK(newest_nightly(rows, places).known->id == 3);
  CHECK(newest_nightly(rows, places).judged->id == 2);
}

TEST_CASE("the first nightly has no verdict, and without nightlies there is none") {
  const std::vector rows{row(1, 1, std::nullopt, ComparisonState::accepted)};
  CHECK(newest_nightly(rows, {{1, 1}}).known->id == 1);
  CHECK_FALSE(newest_nightly(rows, {{1, 1}}).judged);
  CHECK_FALSE(newest_nightly({}, {}).known);
}
