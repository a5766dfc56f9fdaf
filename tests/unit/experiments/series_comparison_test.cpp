#include "series_comparison.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch::experiments;
using torchwatch::test::RecordedComparison;
using torchwatch::test::RecordedSeries;

namespace {

/// 12 comparisons of two processes; the runs are 0, 1, 2, ... plus 100.
Series twelve_comparisons() {
  RecordedSeries recorded{"w", {}};
  for (int comparison = 0; comparison < 12; ++comparison) {
    recorded.comparisons.push_back(
        RecordedComparison{{100.0 + 2 * comparison}, {101.0 + 2 * comparison}});
  }
  return Series(recorded, 0);
}

}  // namespace

TEST_CASE("a series has as many processes as were recorded, comparison by comparison") {
  const Series series({"w", {RecordedComparison{{1, 2, 3}, {10}}, RecordedComparison{{5}}}}, 4);
  CHECK(series.place == 4);
  CHECK(series.comparisons == std::vector<std::vector<double>>{{2, 10}, {5}});
  CHECK(series.comparison_values == std::vector<double>{6, 5});
  CHECK(series.runs == std::vector<double>{2, 10, 5});
  CHECK(series.comparison_of_run == std::vector<std::size_t>{0, 0, 1});
}

TEST_CASE("ten samples are the first ten") {
  RecordedComparison comparison{{}};
  for (int i = 1; i <= 15; ++i) comparison[0].push_back(i);
  const Series series({"w", {comparison}}, 0);
  CHECK(series.medians_of_ten[0][0] == 5.5);
  CHECK(series.comparisons[0][0] == 8);
}

TEST_CASE("a recorded comparison stands among its neighbours on a ring") {
  const auto series = twelve_comparisons();
  const auto comparison = recorded_comparison(series, 1, 1.5);
  CHECK(comparison.comparisons.size() == kComparisonsBefore + 1 + kComparisonsAfter);
  CHECK(comparison.comparisons[SeriesComparison::kJudged] == 1);
  CHECK(comparison.comparisons[SeriesComparison::kJudged - 1] == 0);
  CHECK(comparison.comparisons[SeriesComparison::kJudged - 2] == 11);
  CHECK(comparison.comparisons[SeriesComparison::kJudged + 1] == 2);
  CHECK(comparison.value(SeriesComparison::kJudged - 1) == 100.5);
  CHECK(comparison.value(SeriesComparison::kJudged) == 1.5 * 102.5);
}

TEST_CASE("runs from elsewhere keep their order and leave comparisons out") {
  const auto series = twelve_comparisons();
  Random random(1);
  RunsElsewhere next(series, {3, 4}, random);
  std::vector<double> runs(20);
  std::generate(runs.begin(), runs.end(), std::ref(next));
  for (const double left_out : {106, 107, 108, 109}) {
    CHECK(std::count(runs.begin(), runs.end(), left_out) == 0);
  }
  // A whole round: every run once, in order but for the turn of the ring.
  const auto first = std::min_element(runs.begin(), runs.end());
  std::rotate(runs.begin(), first, runs.end());
  CHECK(std::is_sorted(runs.begin(), runs.end()));
  CHECK(std::adjacent_find(runs.begin(), runs.end()) == runs.end());
}

TEST_CASE("a screening takes the runs of both comparisons in order, from any on, before others") {
  const auto series = twelve_comparisons();
  const auto comparison = recorded_comparison(series, 5, 1);
  Random random(1);
  std::set<double> firsts;
  for (int i = 0; i < 50; ++i) {
    RunsOfComparison next(comparison, random);
    const double first = next();
    firsts.insert(first);
    for (int j = 1; j < 4; ++j) CHECK(next() == 108 + std::fmod(first - 108 + j, 4));
    const double other = next();
    CHECK((other < 108 || other > 111));
  }
  CHECK(firsts == std::set<double>{108, 109, 110, 111});
}
