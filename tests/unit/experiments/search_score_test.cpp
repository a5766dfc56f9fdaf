#include "search_score.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::experiments;

namespace {

/// The score of one day with culprits 3 and 9, of which 2 does not build.
SearchScore score_of(std::vector<std::vector<std::size_t>> blamed) {
  const Day day{12, {{3, 0.1}, {9, 0.1}}, {2}};
  DayResult result;
  result.blamed = std::move(blamed);
  SearchScore score;
  score.count(day, result);
  REQUIRE(score.exact.hits + score.contains.hits + score.none.hits + score.wrong.hits == 1);
  return score;
}

}  // namespace

TEST_CASE("exact is every culprit, as precisely as broken builds allow") {
  const auto score = score_of({{2, 3}, {9}});
  REQUIRE(score.exact.hits == 1);
  REQUIRE(score.all_found.hits == 1);
}

TEST_CASE("a set that is too large, or one culprit of two, only contains") {
  REQUIRE(score_of({{2, 3}, {8, 9}}).contains.hits == 1);
  REQUIRE(score_of({{2, 3}}).contains.hits == 1);
  REQUIRE(score_of({{2, 3}}).all_found.hits == 0);
}

TEST_CASE("somebody innocent is wrong blame, beside the right ones too") {
  const auto score = score_of({{2, 3}, {5}, {9}});
  REQUIRE(score.wrong.hits == 1);
  REQUIRE(score.all_found.hits == 1);
}

TEST_CASE("the mean of the runs has an interval that narrows with the days") {
  const Day day{12, {{3, 0.1}}, {}};
  SearchScore score;
  for (int number = 0; number < 400; ++number) {
    DayResult result;
    result.runs = number % 2 == 0 ? 40 : 60;
    result.rounds = 3;
    score.count(day, result);
  }
  // 50 +- 1.96 * 10 / sqrt(400)
  const auto row = table_row("day", "search", score, {.build_minutes = 20, .run_seconds = 36});
  REQUIRE(row.find("| 3.0 | 50.0 (49.0-51.0) |") != std::string::npos);
  REQUIRE(row.find("| 1.50 |") != std::string::npos);  // 3 rounds of 20 min, 50 runs of 36 s
}

TEST_CASE("no culprit named is not an answer") {
  REQUIRE(score_of({}).none.hits == 1);
}

TEST_CASE("claims are right when they hold a culprit") {
  const Day day{12, {{3, 0.1}}, {}};
  DayResult result;
  result.claims = {{{3}, true}, {{4}, true}, {{2, 3}, false}};
  SearchScore score;
  score.count(day, result);
  REQUIRE(score.verified_right.hits == 1);
  REQUIRE(score.verified_right.of == 2);
  REQUIRE(score.believed_right.hits == 1);
}
