#include "torchwatch/evidence/comparison.hpp"

#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/study_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;

namespace {

/// A metric of bytes that LibTorch's allocators count.
constexpr Metric kCounted = Metric::cpu_peak;
const Series kResnet = series_of("resnet18");
const Series kAlexnet = series_of("alexnet");
const Series kAlexnetInfer = series_of("alexnet", Metric::time, Mode::infer);

struct Judged : EvidenceRows {
  Judged() {
    add_verdict(row.id, kResnet, Verdict::regressed, 1.1);
    add_verdict(row.id, kAlexnet, Verdict::improved, 0.8);
    add_verdict(row.id, kAlexnetInfer, Verdict::unchanged, 1.01);
    add_verdict(row.id, series_of("resnet18", Metric::leak_growth), Verdict::regressed, 0, 64);
  }

  Id baseline = add_build("2.14.0.dev20260816");
  Id candidate = add_build("2.14.0.dev20260817");
  storage::ComparisonRow row = add_comparison(candidate, baseline);
};

/// The map of all verdicts on `rows.row`.
drawing::HeatMap heat_map(EvidenceRows& rows, const storage::ComparisonRow& row, Metric metric,
                          const evidence::Domains& domains = {},
                          evidence::HeatOrder order = evidence::HeatOrder::name) {
  const auto verdicts = storage::verdicts_of(*rows.database, row.id).value();
  return evidence::heat_map_of(rows.context, row, verdicts, metric, domains, order).value();
}

}  // namespace

TEST_CASE("an operator stands in no map of models, unless nothing else was measured") {
  Judged rows;
  auto of_operator = kResnet;
  of_operator.benchmark.variant.operator_name = "aten::add_";
  const auto before = heat_map(rows, rows.row, Metric::time).rows.size();
  rows.add_verdict(rows.row.id, of_operator, Verdict::regressed, 1.5);
  CHECK(heat_map(rows, rows.row, Metric::time).rows.size() == before);
  const auto alone = rows.add_comparison(rows.baseline, rows.candidate);
  rows.add_verdict(alone.id, of_operator, Verdict::regressed, 1.5);
  const auto map = heat_map(rows, alone, Metric::time);
  REQUIRE(map.rows.size() == 1);
  CHECK(map.rows[0].workload == "resnet18 operator=aten::add_");
}

TEST_CASE("a forest has the changes with a ratio, the largest first") {
  Judged rows;
  rows.context.links.series = [](const Series& series) { return "s/" + to_string(series); };
  const auto forest = evidence::forest_of(rows.context, rows.row).value();
  REQUIRE(forest.rows.size() == 2);
  CHECK(forest.rows[0].label == "alexnet cpu-train time");
  CHECK(forest.rows[0].verdict == Verdict::improved);
  CHECK(forest.rows[1].ratio == 1.1);
  CHECK(forest.rows[1].link == "s/resnet18 cpu-train time");
  CHECK(forest.title == "2.14.0.dev20260817 against 2.14.0.dev20260816");
}

TEST_CASE("the drawings of a study name its settings, as both sides are one build") {
  Judged rows;
  const storage::StudyRow threads{.baseline = "threads=1", .candidate = "threads=2"};
  const auto study =
      storage::StudyStore(*rows.database).open(rows.candidate, "{}", threads, 1).value();
  rows.add_verdict(study.id, kResnet, Verdict::improved, 0.8);
  CHECK(evidence::forest_of(rows.context, study).value().title == "threads=2 against threads=1");
  CHECK(heat_map(rows, study, Metric::time).title == "threads=2 against threads=1");
}

TEST_CASE("a forest of one metric has what is unchanged, too") {
  Judged rows;
  CHECK(evidence::forest_of(rows.context, rows.row, Metric::time).value().rows.size() == 3);
  CHECK(evidence::forest_of(rows.context, rows.row, Metric::cpu_peak).value().rows.empty());
}

TEST_CASE("a forest of an incident has its series") {
  Judged rows;
  storage::IncidentRow incident;
  incident.comparison = rows.row.id;
  incident.key = "time-cpu:abc";
  incident.title = "resnet18 slower";
  incident.series = {{kResnet, 1.1, 1.08, 1.12, 100, 110}};
  incident = storage::IncidentStore(*rows.database).open(incident).value();
  const auto forest = evidence::forest_of(rows.context, incident).value();
  CHECK(forest.title == "resnet18 slower");
  REQUIRE(forest.rows.size() == 1);
  CHECK(forest.rows[0].interval->high == 1.12);
}

TEST_CASE("an exact series is drawn by the exact threshold, the others by theirs") {
  Judged rows;
  rows.context.threshold = 1.07;
  rows.context.exact_threshold = 1.02;
  storage::VerdictRow exact;
  exact.comparison = rows.row.id;
  exact.series = series_of("alexnet", kCounted);
  exact.verdict = Verdict::regressed;
  exact.ratio = exact.interval_low = exact.interval_high = 1.03;
  REQUIRE(storage::ComparisonStore(*rows.database).add_verdict(exact));
  const auto forest = evidence::forest_of(rows.context, rows.row).value();
  REQUIRE(forest.rows.size() == 3);
  CHECK(forest.rows[0].threshold == 1.07);
  CHECK(forest.rows[2].ratio == 1.03);
  CHECK(forest.rows[2].threshold == 1.02);
  const auto map = heat_map(rows, rows.row, kCounted);
  CHECK(map.rows.at(0).cells.at(0).threshold == 1.02);
  CHECK(evidence::strips_of(rows.context, rows.row, exact.series).value().strips.threshold == 1.02);
  CHECK(evidence::strips_of(rows.context, rows.row, kResnet).value().strips.threshold == 1.07);
  const evidence::HistoryWanted past{.series = exact.series, .is_ratio = true};
  CHECK(evidence::history_of(rows.context, past).value().threshold == 1.02);
  rows.context.threshold_of = [](const Series& of, bool is_exact) {
    return of.benchmark.workload == "alexnet" ? (is_exact ? 1.01 : 1.5) : 1.07;
  };
  CHECK(evidence::strips_of(rows.context, rows.row, exact.series).value().strips.threshold == 1.01);
  CHECK(evidence::strips_of(rows.context, rows.row, kResnet).value().strips.threshold == 1.07);
}

TEST_CASE("a heat map has a row for each workload, and no verdict where there is none") {
  Judged rows;
  const auto map = heat_map(rows, rows.row, Metric::time);
  CHECK(map.configurations == std::vector<std::string>{"cpu-train", "cpu-infer"});
  REQUIRE(map.rows.size() == 2);
  CHECK(map.rows[0].workload == "alexnet");
  CHECK(map.rows[0].cells[1].verdict == Verdict::unchanged);
  CHECK_FALSE(map.rows[0].cells[1].is_confirmed);
  CHECK(map.rows[1].workload == "resnet18");
  CHECK(map.rows[1].cells[0].ratio == 1.1);
  CHECK(map.rows[1].cells[0].is_confirmed);
  CHECK_FALSE(map.rows[1].cells[1].verdict);
}

TEST_CASE("a heat map is ordered by effect or by domain where that is asked for") {
  Judged rows;
  const evidence::Domains domains{{"alexnet", "vision"}, {"resnet18", "a domain before it"}};
  const auto map_by = [&](evidence::HeatOrder order) {
    return heat_map(rows, rows.row, Metric::time, domains, order);
  };
  CHECK(map_by(evidence::HeatOrder::name).rows.front().workload == "alexnet");
  const auto by_effect = map_by(evidence::HeatOrder::effect);
  CHECK(by_effect.rows.front().workload == "alexnet");
  CHECK_FALSE(by_effect.is_by_domain);
  const auto by_domain = map_by(evidence::HeatOrder::domain);
  CHECK(by_domain.rows.front().workload == "resnet18");
  CHECK(by_domain.is_by_domain);
}

TEST_CASE("a variant has a row of its own in a heat map") {
  Judged rows;
  auto variant = kResnet;
  variant.benchmark.variant.precision = Precision::bf16;
  rows.add_verdict(rows.row.id, variant, Verdict::unchanged, 1.0);
  const auto map = heat_map(rows, rows.row, Metric::time);
  REQUIRE(map.rows.size() == 3);
  CHECK(map.rows[2].workload == "resnet18 bf16");
  CHECK(map.rows[2].workload == evidence::row_name(variant.benchmark));
}

TEST_CASE("sparklines have the values of the judged nightlies up to a comparison") {
  Judged rows;
  const auto later = rows.add_build("2.14.0.dev20260818");
  rows.add_comparison(later, rows.baseline);  // without verdicts
  const auto last = rows.add_comparison(later, rows.candidate);
  rows.add_verdict(last.id, kResnet, Verdict::unchanged, 1.0, 120);
  rows.add_verdict(last.id, kAlexnet, Verdict::failed, 0);
  const auto all = evidence::sparklines_of(rows.context, last.id, Metric::time).value();
  CHECK(all.comparisons == std::vector<storage::Id>{rows.row.id, last.id});
  REQUIRE(all.lines.size() == 2);
  CHECK(all.lines[0].series == kAlexnet);
  CHECK(all.lines[0].values[0] == 80.0);
  CHECK_FALSE(all.lines[0].values[1]);
  CHECK(all.lines[1].values[0] == Approx(110));
  CHECK(all.lines[1].values[1] == 120.0);
  const auto one = evidence::sparklines_of(rows.context, last.id, Metric::time, 1).value();
  CHECK(one.comparisons == std::vector<storage::Id>{last.id});
}

TEST_CASE("small multiples are the sparklines of one configuration in the order of the heat map") {
  Judged rows;
  rows.context.links.series = [](const Series& series) { return "s/" + to_string(series); };
  const auto map = heat_map(rows, rows.row, Metric::time, {}, evidence::HeatOrder::effect);
  const auto lines = evidence::sparklines_of(rows.context, rows.row.id, Metric::time).value();
  const auto train =
      evidence::small_multiples_of(rows.context, lines, kResnet.benchmark.configuration, map);
  REQUIRE(train.all.size() == 2);
  CHECK(train.all[0].label == map.rows[0].workload);
  CHECK(train.all[1].label == "resnet18");
  CHECK(train.all[1].verdict == Verdict::regressed);
  REQUIRE(train.all[1].values.size() == 1);
  CHECK(train.all[1].values[0] == Approx(110));
  CHECK(train.all[1].link == "s/resnet18 cpu-train time");
  CHECK(train.all[1].threshold == rows.context.threshold);
  const auto infer =
      evidence::small_multiples_of(rows.context, lines, kAlexnetInfer.benchmark.configuration, map);
  REQUIRE(infer.all.size() == 1);
  CHECK(infer.all[0].label == "alexnet");
}

TEST_CASE("a comparison without verdicts has no drawing with rows") {
  EvidenceRows rows;
  const auto build = rows.add_build("2.14.0.dev20260817");
  const auto row = rows.add_comparison(build, build);
  CHECK(evidence::forest_of(rows.context, row).value().rows.empty());
  CHECK(heat_map(rows, row, Metric::time).rows.empty());
  CHECK(evidence::sparklines_of(rows.context, row.id, Metric::time).value().lines.empty());
}
