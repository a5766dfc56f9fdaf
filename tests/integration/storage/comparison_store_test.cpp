#include <catch2/catch.hpp>

#include "stores.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct OneComparison : FreshStores {
  ComparisonRow comparison = comparison_of_two(stores);
  ComparisonStore& comparisons = stores.comparisons;
};

VerdictRow verdict_of(const ComparisonRow& comparison) {
  VerdictRow row;
  row.comparison = comparison.id;
  row.series = {{"dlrm", {Device::cpu, Mode::infer}, {Precision::bf16, Backend::eager, 8, 2}},
                Metric::cpu_peak};
  row.verdict = Verdict::regressed;
  row.ratio = 1.25;
  row.interval_low = 1.2;
  row.interval_high = 1.3;
  row.baseline_value = 100;
  row.candidate_value = 125;
  row.baseline_spread = 0.01;
  row.candidate_spread = 0.02;
  row.pair_spread = 0.005;
  row.runs = 24;
  row.reason = "confirmed";
  return row;
}

}  // namespace

TEST_CASE_METHOD(OneComparison,
                 "a pair of builds has one nightly comparison, and a new one for each request") {
  const auto& b = comparison.baseline;
  REQUIRE(comparisons.open({Purpose::nightly, comparison.candidate, b}, 5).value().id ==
          comparison.id);
  const auto first = comparisons.open({Purpose::requested, comparison.candidate, b}, 5).value();
  const auto second = comparisons.open({Purpose::requested, comparison.candidate, b}, 6).value();
  REQUIRE(first.repetition == 0);
  REQUIRE(second.repetition == 1);
  REQUIRE(comparisons.open({Purpose::self_test, *b, *b}, 6).value().repetition == 0);
}

TEST_CASE_METHOD(OneComparison, "the oldest nightly has no baseline and ends accepted") {
  const auto oldest =
      comparisons.open({Purpose::nightly, *comparison.baseline, std::nullopt}, 5).value();
  REQUIRE_FALSE(oldest.baseline);
  REQUIRE(comparisons.open({Purpose::nightly, *comparison.baseline, std::nullopt}, 9).value().id ==
          oldest.id);
  const auto ended =
      comparisons.advance(oldest, ComparisonState::accepted, 77, "the oldest").value();
  REQUIRE(ended.ended_at == 77);
  REQUIRE(ended.reason == "the oldest");
}

TEST_CASE_METHOD(OneComparison, "a comparison advances once to each state") {
  auto row = comparisons.set_plan(comparison, "{\"blocks\":4}").value();
  REQUIRE(row.plan_json == "{\"blocks\":4}");
  for (const auto state :
       {ComparisonState::ready, ComparisonState::measured, ComparisonState::judged,
        ComparisonState::bisected, ComparisonState::reported}) {
    const auto before = row;
    row = comparisons.advance(before, state, 50).value();
    REQUIRE(row.state == state);
    REQUIRE(row.version == before.version + 1);
    REQUIRE(comparisons.advance(before, state, 60).error().code == ErrorCode::conflict);
  }
  REQUIRE(row.ended_at == 50);
  REQUIRE(comparisons.unfinished().value().empty());
}

TEST_CASE_METHOD(OneComparison, "a comparison never goes back and never leaves its end") {
  const auto judged = comparisons.advance(comparison, ComparisonState::judged, 1).value();
  REQUIRE(comparisons.advance(judged, ComparisonState::ready, 1).error().code ==
          ErrorCode::invalid);
  REQUIRE(comparisons.advance(judged, ComparisonState::judged, 1).error().code ==
          ErrorCode::invalid);
  const auto refused = comparisons.advance(judged, ComparisonState::refused, 1).value();
  REQUIRE(comparisons.advance(refused, ComparisonState::reported, 1).error().code ==
          ErrorCode::invalid);
}

TEST_CASE_METHOD(OneComparison,
                 "an outdated copy of a comparison changes nothing and the error has its state") {
  REQUIRE(comparisons.set_plan(comparison, "{}"));
  const auto error = comparisons.advance(comparison, ComparisonState::ready, 1).error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains("is discovered (version 1)"));
  REQUIRE(comparisons.set_plan(comparison, "{1}").error().code == ErrorCode::conflict);
  REQUIRE(comparisons.get(comparison.id).value().plan_json == "{}");
}

TEST_CASE_METHOD(OneComparison, "verdicts of many comparisons are counted each by itself") {
  const auto other =
      comparisons.open({Purpose::requested, comparison.candidate, comparison.baseline}, 1).value();
  const auto empty =
      comparisons.open({Purpose::requested, comparison.candidate, comparison.baseline}, 1).value();
  auto verdict = verdict_of(comparison);
  for (const auto word : {Verdict::unchanged, Verdict::regressed, Verdict::unchanged}) {
    verdict.series.benchmark.workload += "x";
    verdict.verdict = word;
    REQUIRE(comparisons.add_verdict(verdict));
  }
  verdict.comparison = other.id;
  verdict.verdict = Verdict::failed;
  REQUIRE(comparisons.add_verdict(verdict));
  const auto counts = comparisons.verdict_counts({comparison.id, other.id, empty.id});
  CHECK(counts.at(comparison.id).value() ==
        VerdictCounts{{Verdict::unchanged, 2}, {Verdict::regressed, 1}});
  CHECK(counts.at(other.id).value() == VerdictCounts{{Verdict::failed, 1}});
  CHECK(counts.at(empty.id).value().empty());
}

TEST_CASE_METHOD(OneComparison, "a verdict comes back as it was reached") {
  const auto verdict = verdict_of(comparison);
  REQUIRE(comparisons.add_verdict(verdict));
  const auto rows = verdicts_of(*stores.database, comparison.id).value();
  std::map<Verdict, int> counts;
  for (const auto& row : rows) ++counts[row.verdict];
  CHECK(comparisons.verdict_counts({comparison.id}).at(comparison.id).value() == counts);
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].series == verdict.series);
  REQUIRE(rows[0].verdict == Verdict::regressed);
  REQUIRE(rows[0].ratio == 1.25);
  REQUIRE(rows[0].interval_low == 1.2);
  REQUIRE(rows[0].interval_high == 1.3);
  REQUIRE(rows[0].baseline_value == 100);
  REQUIRE(rows[0].candidate_value == 125);
  REQUIRE(rows[0].baseline_spread == 0.01);
  REQUIRE(rows[0].candidate_spread == 0.02);
  REQUIRE(rows[0].pair_spread == 0.005);
  REQUIRE(rows[0].runs == 24);
  REQUIRE(rows[0].reason == "confirmed");
}

TEST_CASE_METHOD(OneComparison,
                 "a series gets one verdict a comparison, and the error names both") {
  auto verdict = verdict_of(comparison);
  REQUIRE(comparisons.add_verdict(verdict));
  verdict.verdict = Verdict::unchanged;
  const auto error = comparisons.add_verdict(verdict).error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains("comparison " + std::to_string(comparison.id)));
  REQUIRE_THAT(error.message, Catch::Contains("dlrm cpu-infer"));
  REQUIRE(verdicts_of(*stores.database, comparison.id).value().at(0).verdict == Verdict::regressed);
}

TEST_CASE_METHOD(OneComparison, "a verdict without a number is not stored") {
  auto verdict = verdict_of(comparison);
  verdict.ratio = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(comparisons.add_verdict(verdict).error().code == ErrorCode::invalid);
  verdict = verdict_of(comparison);
  verdict.interval_low = 2;
  REQUIRE(comparisons.add_verdict(verdict).error().code == ErrorCode::invalid);
}

TEST_CASE_METHOD(OneComparison, "lists are newest first and paged, the unfinished oldest first") {
  const auto b = comparison.baseline;
  const auto second = comparisons.open({Purpose::requested, comparison.candidate, b}, 2).value();
  const auto third = comparisons.open({Purpose::requested, comparison.candidate, b}, 3).value();
  const auto page = comparisons.list(2).value();
  REQUIRE(page.size() == 2);
  REQUIRE(page[0].id == third.id);
  REQUIRE(comparisons.list(2, page[1].id).value().at(0).id == comparison.id);
  REQUIRE(comparisons.advance(second, ComparisonState::refused, 4));
  const auto unfinished = comparisons.unfinished().value();
  REQUIRE(unfinished.size() == 2);
  REQUIRE(unfinished[0].id == comparison.id);
}

TEST_CASE_METHOD(OneComparison, "a comparison of an unknown build is refused") {
  REQUIRE(comparisons.open({Purpose::nightly, 77, std::nullopt}, 1).error().code ==
          ErrorCode::not_found);
  REQUIRE(comparisons.get(77).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneComparison, "a comparison keeps its summary, and how sure its intervals are") {
  REQUIRE(comparison.summary_json.empty());
  REQUIRE_FALSE(comparison.confidence);
  REQUIRE(comparisons.set_summary(comparison.id, "{\"a\":1}", 0.95));
  const auto summarised = comparisons.get(comparison.id).value();
  REQUIRE(summarised.summary_json == "{\"a\":1}");
  REQUIRE(summarised.confidence == 0.95);
}

TEST_CASE_METHOD(OneComparison, "nightlies are found by their order and by their candidate") {
  const auto third = ready_build(stores.builds, "n3", "h3");
  const auto later =
      comparisons.open({Purpose::nightly, third.id, comparison.candidate}, 2).value();
  REQUIRE(comparisons.open({Purpose::requested, third.id, comparison.baseline}, 3));
  const auto fourth = ready_build(stores.builds, "n4", "h4");
  const auto last = comparisons.open({Purpose::nightly, fourth.id, third.id}, 4).value();
  const auto before = comparisons.nightlies_before(last.id, 10).value();
  REQUIRE(before.size() == 2);
  REQUIRE(before[0].id == later.id);
  REQUIRE(before[1].id == comparison.id);
  REQUIRE(comparisons.nightlies_before(last.id, 1).value().size() == 1);
  CHECK(comparisons.nightly_after(comparison.id).value() == later.id);
  CHECK(comparisons.nightly_after(later.id).value() == last.id);
  CHECK_FALSE(comparisons.nightly_after(last.id).value());
  REQUIRE(comparisons.nightlies_until(last.id).value() == 3);
  REQUIRE(comparisons.nightlies_until(later.id).value() == 2);
  REQUIRE(comparisons.nightly_of(third.id).value()->id == later.id);
  REQUIRE_FALSE(comparisons.nightly_of(*comparison.baseline).value());
}

TEST_CASE_METHOD(OneComparison,
                 "self-tests are counted by metric, without those that could not run") {
  REQUIRE(comparisons.self_tests().value().empty());
  const auto judge = [&](Purpose purpose, Verdict verdict) {
    const auto test =
        comparisons.open({purpose, comparison.candidate, comparison.candidate}, 2).value();
    auto row = verdict_of(test);
    row.verdict = verdict;
    REQUIRE(comparisons.add_verdict(row));
    row.series.metric = Metric::time;
    row.verdict = Verdict::unchanged;
    REQUIRE(comparisons.add_verdict(row));
  };
  for (const auto verdict : {Verdict::unchanged, Verdict::regressed, Verdict::improved,
                             Verdict::inconclusive, Verdict::failed, Verdict::unsupported}) {
    judge(Purpose::self_test, verdict);
  }
  judge(Purpose::requested, Verdict::regressed);
  const auto tallies = comparisons.self_tests().value();
  REQUIRE(tallies.size() == 2);
  REQUIRE(tallies[0].metric == Metric::cpu_peak);
  REQUIRE(tallies[0].series == 4);
  REQUIRE(tallies[0].inconclusive == 1);
  REQUIRE(tallies[0].regressed == 1);
  REQUIRE(tallies[0].improved == 1);
  REQUIRE(tallies[1].metric == Metric::time);
  REQUIRE(tallies[1].series == 6);
  REQUIRE(tallies[1].regressed == 0);
  const auto all = sum_of(tallies);
  REQUIRE(all.series == 10);
  REQUIRE(all.inconclusive + all.regressed + all.improved == 3);
}

TEST_CASE_METHOD(OneComparison,
                 "drills are counted by what became of the time, and never opened "
                 "of two builds") {
  auto& database = *stores.database;
  CHECK(drills(database).value().planted == 0);
  CHECK_FALSE(last_drill(database).value());
  for (const auto verdict : {Verdict::unchanged, Verdict::regressed, Verdict::regressed,
                             Verdict::inconclusive, Verdict::failed}) {
    const auto drill =
        comparisons.open({Purpose::drill, comparison.candidate, comparison.candidate}, 2).value();
    CHECK(last_drill(database).value() == drill.id);
    auto row = verdict_of(drill);
    row.series.metric = Metric::time;
    row.verdict = verdict;
    REQUIRE(comparisons.add_verdict(row));
    row.series.metric = Metric::device_time;
    row.verdict = Verdict::unchanged;
    REQUIRE(comparisons.add_verdict(row));
  }
  const auto tally = drills(database).value();
  CHECK(tally.planted == 4);
  CHECK(tally.found == 2);
  CHECK(tally.inconclusive == 1);
  CHECK(tally.missed() == 1);
  CHECK_FALSE(comparisons.open({Purpose::drill, comparison.candidate, comparison.baseline}, 3));
}

TEST_CASE_METHOD(OneComparison,
                 "a comparison can be cancelled once, and retried from its beginning") {
  SetbackStore setbacks(*stores.database);
  const ItemKey key{ItemKind::comparison, std::to_string(comparison.id)};
  REQUIRE(setbacks.record({.key = key, .tries = 2, .since = 1, .not_before = 9, .error = "e"}));
  REQUIRE(stores.builds.set_unusable(comparison.candidate, "does not compile"));

  const auto cancelled = comparisons.cancel(comparison.id, "by ada", 7).value();
  REQUIRE(cancelled.state == ComparisonState::cancelled);
  REQUIRE(cancelled.ended_at == 7);
  REQUIRE(cancelled.reason == "by ada");
  REQUIRE(comparisons.cancel(comparison.id, "again", 8).error().code == ErrorCode::conflict);
  REQUIRE(comparisons.unfinished().value().empty());
  REQUIRE_FALSE(setbacks.find(key).value());

  const auto again = comparisons.retry(comparison.id).value();
  REQUIRE(again.state == ComparisonState::discovered);
  REQUIRE(again.ended_at == 0);
  REQUIRE(again.reason.empty());
  REQUIRE(comparisons.unfinished().value().size() == 1);
  REQUIRE(stores.builds.get(comparison.candidate).value().unusable.empty());
  REQUIRE(comparisons.cancel(99, "x", 8).error().code == ErrorCode::not_found);
  REQUIRE(comparisons.retry(99).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneComparison, "what waits is due at once when it is retried; a result is final") {
  SetbackStore setbacks(*stores.database);
  const ItemKey key{ItemKind::comparison, std::to_string(comparison.id)};
  REQUIRE(setbacks.record({.key = key, .since = 1, .not_before = 9, .error = "e"}));
  const auto waiting = comparisons.retry(comparison.id).value();
  REQUIRE(waiting.state == comparison.state);
  REQUIRE(setbacks.list().value().empty());
  REQUIRE(comparisons.advance(waiting, ComparisonState::reported, 5));
  REQUIRE(comparisons.retry(comparison.id).error().code == ErrorCode::conflict);
}

TEST_CASE_METHOD(OneComparison, "a setback takes the place of the one before it") {
  SetbackStore setbacks(*stores.database);
  const ItemKey build{ItemKind::build, "2026-08-18"};
  REQUIRE(setbacks.record({.key = build, .since = 2, .not_before = 3, .error = "first"}));
  REQUIRE(setbacks.record(
      {.key = build, .tries = 1, .setbacks = 2, .since = 2, .not_before = 5, .error = "second"}));
  REQUIRE(setbacks.record({.key = {ItemKind::channel, "list"}, .since = 1, .error = "other"}));
  const auto listed = setbacks.list().value();
  REQUIRE(listed.size() == 2);
  REQUIRE(listed[0].error == "other");
  REQUIRE(listed[1].setbacks == 2);
  REQUIRE(listed[1].not_before == 5);
  REQUIRE(setbacks.clear(build));
  REQUIRE_FALSE(setbacks.find(build).value());
}

TEST_CASE_METHOD(OneComparison,
                 "what a build waits for ends with the last comparison that needs it") {
  SetbackStore setbacks(*stores.database);
  const auto build = stores.builds.get(comparison.candidate).value();
  const ItemKey key{ItemKind::build, build.name};
  REQUIRE(setbacks.record({.key = key, .error = "no runner"}));
  const auto other =
      comparisons.open({Purpose::requested, comparison.candidate, comparison.baseline}, 5).value();
  REQUIRE(comparisons.cancel(comparison.id, "by hand", 6));
  CHECK(setbacks.find(key).value());
  SECTION("cancelled") {
    REQUIRE(comparisons.cancel(other.id, "by hand", 7));
  }
  SECTION("refused") {
    REQUIRE(comparisons.advance(other, ComparisonState::refused, 7));
  }
  CHECK_FALSE(setbacks.find(key).value());
}

TEST_CASE_METHOD(OneComparison,
                 "what a comparison waits for ends with it, whoever carried it out") {
  SetbackStore setbacks(*stores.database);
  const ItemKey key{ItemKind::comparison, std::to_string(comparison.id)};
  REQUIRE(setbacks.record({.key = key, .error = "no network"}));
  const auto ready = comparisons.advance(comparison, ComparisonState::ready, 5).value();
  CHECK(setbacks.find(key).value());
  REQUIRE(comparisons.advance(ready, ComparisonState::refused, 6));
  CHECK_FALSE(setbacks.find(key).value());
}

TEST_CASE_METHOD(OneComparison, "a build that is still to come waits although no comparison does") {
  SetbackStore setbacks(*stores.database);
  REQUIRE(stores.builds.discover(BuildOrigin::nightly, "to come"));
  const ItemKey key{ItemKind::build, "to come"};
  REQUIRE(setbacks.record({.key = key, .error = "no network"}));
  REQUIRE(comparisons.cancel(comparison.id, "by hand", 6));
  CHECK(setbacks.find(key).value());
}

TEST_CASE_METHOD(OneComparison, "a comparison that is tried again tries its builds again as well") {
  SetbackStore setbacks(*stores.database);
  const ItemKey key{ItemKind::build, stores.builds.get(comparison.candidate).value().name};
  REQUIRE(setbacks.record({.key = key, .error = "no runner"}));
  REQUIRE(comparisons.retry(comparison.id));
  CHECK_FALSE(setbacks.find(key).value());
}
