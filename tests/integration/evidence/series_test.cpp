#include "torchwatch/evidence/series.hpp"

#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/runs/retention.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using comparison::Block;
using comparison::Side;
using comparison::Stage;

namespace {

struct Compared : EvidenceRows {
  Id baseline = add_build("2.14.0.dev20260816");
  Id candidate = add_build("2.14.0.dev20260817");
  storage::ComparisonRow row = add_comparison(candidate, baseline);
};

RunResult memory_result(std::int64_t growth, std::vector<std::int64_t> live) {
  RunResult result;
  result.values = {{Metric::leak_growth, growth}, {Metric::cpu_peak, 4'096}};
  result.leak = LeakFigures{.growth_bytes_per_iteration = growth, .live_bytes = std::move(live)};
  return result;
}

}  // namespace

TEST_CASE("the runs of a series come in the order in which they ran, with side and stage") {
  Compared rows;
  const auto series = series_of("resnet18");
  rows.add_verdict(rows.row.id, series, Verdict::regressed, 1.1);
  rows.add_block(rows.row, series.benchmark, Stage::screen);
  rows.add_block(rows.row, series.benchmark, Stage::confirm);
  rows.add_block(rows.row, series_of("alexnet").benchmark, Stage::screen);
  const auto runs = evidence::runs_of(rows.context, rows.row, series).value();
  REQUIRE(runs.size() == 8);
  const std::vector sides{Side::baseline, Side::candidate, Side::candidate, Side::baseline};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(runs[i].side == sides[i % 4]);
    CHECK(runs[i].stage == (i < 4 ? Stage::screen : Stage::confirm));
  }
  CHECK(runs[1].samples == std::vector<double>{11, 13, 12});
  CHECK(runs[1].median == 12);
}

TEST_CASE("the sides of a build compared with itself are known by their slots") {
  EvidenceRows rows;
  const auto build = rows.add_build("2.14.0.dev20260817");
  const auto row = rows.add_comparison(build, build, 1, storage::Purpose::self_test);
  const auto series = series_of("resnet18");
  rows.add_block(row, series.benchmark, Stage::screen);
  const auto runs = evidence::runs_of(rows.context, row, series).value();
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].side == Side::baseline);
  CHECK(runs[1].side == Side::candidate);
}

TEST_CASE("strips have the names of the builds, and the verdict's ratio and interval") {
  Compared rows;
  const auto series = series_of("resnet18");
  rows.add_verdict(rows.row.id, series, Verdict::regressed, 1.1);
  rows.add_block(rows.row, series.benchmark, Stage::confirm);
  const auto strips = evidence::strips_of(rows.context, rows.row, series).value().strips;
  CHECK(strips.title == "resnet18 cpu-train time");
  CHECK(strips.baseline == "2.14.0.dev20260816");
  CHECK(strips.candidate == "2.14.0.dev20260817");
  CHECK(strips.ratio == 1.1);
  REQUIRE(strips.interval);
  CHECK(strips.interval->low == Approx(1.08));
  REQUIRE(strips.runs.size() == 4);
  CHECK(strips.runs[2].is_confirmation);
  CHECK(strips.runs[2].side == drawing::Side::candidate);
}

TEST_CASE("thinned runs are shown by their median, and counted") {
  Compared rows;
  const auto series = series_of("resnet18");
  rows.add_verdict(rows.row.id, series, Verdict::unchanged, 1.0);
  rows.add_block(rows.row, series.benchmark, Stage::screen);
  storage::ComparisonStore comparisons(*rows.database);
  REQUIRE(comparisons.advance(rows.row, storage::ComparisonState::reported, 2));
  REQUIRE(storage::thin_oldest_comparison(*rows.database, 3).value());
  const auto thinned = evidence::strips_of(rows.context, rows.row, series).value();
  CHECK(thinned.thinned == 4);
  REQUIRE(thinned.strips.runs.size() == 4);
  CHECK(thinned.strips.runs[3].samples.empty());
  CHECK(thinned.strips.runs[3].median == 32);
}

TEST_CASE("of a peak of memory each run has one sample, its value") {
  Compared rows;
  const auto series = series_of("resnet18", Metric::cpu_peak);
  const Block block{series.benchmark, Pass::memory, Stage::screen, 0};
  rows.add_run(rows.row, block, 0, memory_result(0, {8, 8}));
  const auto runs = evidence::runs_of(rows.context, rows.row, series).value();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].samples == std::vector<double>{4'096});
}

TEST_CASE("levels of memory are those of the run with the middle growth of each build") {
  Compared rows;
  const auto series = series_of("resnet18", Metric::leak_growth);
  const Block first{series.benchmark, Pass::memory, Stage::screen, 0};
  const Block second{series.benchmark, Pass::memory, Stage::screen, 2};
  rows.add_run(rows.row, first, 0, memory_result(0, {8, 8, 8}));
  rows.add_run(rows.row, first, 1, memory_result(900, {8, 908}));
  rows.add_run(rows.row, first, 2, memory_result(100, {8, 108}));
  rows.add_run(rows.row, second, 1, memory_result(64, {8, 72}));
  const auto levels = evidence::memory_levels_of(rows.context, rows.row, series).value();
  REQUIRE(levels);
  CHECK(levels->baseline_bytes == std::vector<double>{8, 8, 8});
  CHECK(levels->baseline_slope == 0.0);
  CHECK(levels->candidate_bytes == std::vector<double>{8, 108});
  CHECK(levels->candidate_slope == 100.0);
}

TEST_CASE("a benchmark without memory runs has no levels") {
  Compared rows;
  const auto series = series_of("resnet18", Metric::leak_growth);
  rows.add_block(rows.row, series.benchmark, Stage::screen);
  CHECK_FALSE(evidence::memory_levels_of(rows.context, rows.row, series).value());
}
