#include <catch2/catch.hpp>

#include "stores.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct OneNight : FreshStores {
  NightRow night = night_of_two(stores);
  NightStore& nights = stores.nights;
};

VerdictRow verdict_of(const NightRow& night) {
  VerdictRow row;
  row.night = night.id;
  row.target = {{"dlrm", {Device::cpu, Mode::infer}, {Precision::bf16, Backend::eager, 8, 2}},
                Metric::cpu_peak};
  row.verdict = Verdict::regressed;
  row.ratio = 1.25;
  row.interval_low = 1.2;
  row.interval_high = 1.3;
  row.baseline_value = 100;
  row.candidate_value = 125;
  row.baseline_spread = 0.01;
  row.candidate_spread = 0.02;
  row.runs = 24;
  row.reason = "confirmed";
  return row;
}

}  // namespace

TEST_CASE_METHOD(OneNight,
                 "a pair of builds has one night, and a comparison each time it is asked") {
  const auto& b = night.baseline;
  REQUIRE(nights.opened(NightKind::nightly, night.candidate, b, 5).value().id == night.id);
  const auto first = nights.opened(NightKind::compare, night.candidate, b, 5).value();
  const auto second = nights.opened(NightKind::compare, night.candidate, b, 6).value();
  REQUIRE(first.repetition == 0);
  REQUIRE(second.repetition == 1);
  REQUIRE(nights.opened(NightKind::self_test, *b, *b, 6).value().repetition == 0);
}

TEST_CASE_METHOD(OneNight, "the oldest nightly has no baseline and ends accepted") {
  const auto oldest = nights.opened(NightKind::nightly, *night.baseline, std::nullopt, 5).value();
  REQUIRE_FALSE(oldest.baseline);
  REQUIRE(nights.opened(NightKind::nightly, *night.baseline, std::nullopt, 9).value().id ==
          oldest.id);
  const auto ended = nights.advanced(oldest, NightState::accepted, 77, "the oldest").value();
  REQUIRE(ended.ended_at == 77);
  REQUIRE(ended.reason == "the oldest");
}

TEST_CASE_METHOD(OneNight, "a night moves on once for each state") {
  auto row = nights.planned(night, "{\"blocks\":4}").value();
  REQUIRE(row.plan_json == "{\"blocks\":4}");
  for (const auto state : {NightState::ready, NightState::measured, NightState::judged,
                           NightState::bisected, NightState::reported}) {
    const auto before = row;
    row = nights.advanced(before, state, 50).value();
    REQUIRE(row.state == state);
    REQUIRE(row.version == before.version + 1);
    REQUIRE(nights.advanced(before, state, 60).error().code == ErrorCode::conflict);
  }
  REQUIRE(row.ended_at == 50);
  REQUIRE(nights.unfinished().value().empty());
}

TEST_CASE_METHOD(OneNight, "a night never goes back and never leaves its end") {
  const auto judged = nights.advanced(night, NightState::judged, 1).value();
  REQUIRE(nights.advanced(judged, NightState::ready, 1).error().code == ErrorCode::invalid);
  REQUIRE(nights.advanced(judged, NightState::judged, 1).error().code == ErrorCode::invalid);
  const auto refused = nights.advanced(judged, NightState::refused, 1).value();
  REQUIRE(nights.advanced(refused, NightState::reported, 1).error().code == ErrorCode::invalid);
}

TEST_CASE_METHOD(OneNight,
                 "a stale copy of a night changes nothing and the error says what it is") {
  REQUIRE(nights.planned(night, "{}"));
  const auto error = nights.advanced(night, NightState::ready, 1).error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains("is discovered (version 1)"));
  REQUIRE(nights.planned(night, "{1}").error().code == ErrorCode::conflict);
  REQUIRE(nights.get(night.id).value().plan_json == "{}");
}

TEST_CASE_METHOD(OneNight, "a verdict comes back as it was reached") {
  const auto verdict = verdict_of(night);
  REQUIRE(nights.verdict_reached(verdict));
  const auto rows = nights.verdicts_of(night.id).value();
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].target == verdict.target);
  REQUIRE(rows[0].verdict == Verdict::regressed);
  REQUIRE(rows[0].ratio == 1.25);
  REQUIRE(rows[0].interval_low == 1.2);
  REQUIRE(rows[0].interval_high == 1.3);
  REQUIRE(rows[0].baseline_value == 100);
  REQUIRE(rows[0].candidate_value == 125);
  REQUIRE(rows[0].baseline_spread == 0.01);
  REQUIRE(rows[0].candidate_spread == 0.02);
  REQUIRE(rows[0].runs == 24);
  REQUIRE(rows[0].reason == "confirmed");
}

TEST_CASE_METHOD(OneNight, "a target gets one verdict a night, and the error names both") {
  auto verdict = verdict_of(night);
  REQUIRE(nights.verdict_reached(verdict));
  verdict.verdict = Verdict::unchanged;
  const auto error = nights.verdict_reached(verdict).error();
  REQUIRE(error.code == ErrorCode::conflict);
  REQUIRE_THAT(error.message, Catch::Contains("night " + std::to_string(night.id)));
  REQUIRE_THAT(error.message, Catch::Contains("dlrm cpu-infer"));
  REQUIRE(nights.verdicts_of(night.id).value().at(0).verdict == Verdict::regressed);
}

TEST_CASE_METHOD(OneNight, "a verdict without a number is not stored") {
  auto verdict = verdict_of(night);
  verdict.ratio = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(nights.verdict_reached(verdict).error().code == ErrorCode::invalid);
  verdict = verdict_of(night);
  verdict.interval_low = 2;
  REQUIRE(nights.verdict_reached(verdict).error().code == ErrorCode::invalid);
}

TEST_CASE_METHOD(OneNight, "lists are newest first and paged, the unfinished oldest first") {
  const auto b = night.baseline;
  const auto second = nights.opened(NightKind::compare, night.candidate, b, 2).value();
  const auto third = nights.opened(NightKind::compare, night.candidate, b, 3).value();
  const auto page = nights.list(2).value();
  REQUIRE(page.size() == 2);
  REQUIRE(page[0].id == third.id);
  REQUIRE(nights.list(2, page[1].id).value().at(0).id == night.id);
  REQUIRE(nights.advanced(second, NightState::refused, 4));
  const auto unfinished = nights.unfinished().value();
  REQUIRE(unfinished.size() == 2);
  REQUIRE(unfinished[0].id == night.id);
}

TEST_CASE_METHOD(OneNight, "a night of a build that is not known is refused") {
  REQUIRE(nights.opened(NightKind::nightly, 77, std::nullopt, 1).error().code ==
          ErrorCode::not_found);
  REQUIRE(nights.get(77).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(OneNight, "a night keeps what there is to say beside its verdicts") {
  REQUIRE(night.summary_json.empty());
  REQUIRE(nights.summarised(night.id, "{\"a\":1}"));
  REQUIRE(nights.get(night.id).value().summary_json == "{\"a\":1}");
}

TEST_CASE_METHOD(OneNight, "nightlies are found by their order and by their candidate") {
  const auto third = ready_build(stores.builds, "n3", "h3");
  const auto later = nights.opened(NightKind::nightly, third.id, night.candidate, 2).value();
  REQUIRE(nights.opened(NightKind::compare, third.id, night.baseline, 3));
  const auto fourth = ready_build(stores.builds, "n4", "h4");
  const auto last = nights.opened(NightKind::nightly, fourth.id, third.id, 4).value();
  const auto before = nights.nightlies_before(last.id, 10).value();
  REQUIRE(before.size() == 2);
  REQUIRE(before[0].id == later.id);
  REQUIRE(before[1].id == night.id);
  REQUIRE(nights.nightlies_before(last.id, 1).value().size() == 1);
  REQUIRE(nights.nightlies_until(last.id).value() == 3);
  REQUIRE(nights.nightlies_until(later.id).value() == 2);
  REQUIRE(nights.nightly_of(third.id).value()->id == later.id);
  REQUIRE_FALSE(nights.nightly_of(*night.baseline).value());
}

TEST_CASE_METHOD(OneNight, "self-tests are counted by metric, those that could not run are not") {
  REQUIRE(nights.self_tests().value().empty());
  const auto judge = [&](NightKind kind, Verdict verdict) {
    const auto test = nights.opened(kind, night.candidate, night.candidate, 2).value();
    auto row = verdict_of(test);
    row.verdict = verdict;
    REQUIRE(nights.verdict_reached(row));
    row.target.metric = Metric::time;
    row.verdict = Verdict::unchanged;
    REQUIRE(nights.verdict_reached(row));
  };
  for (const auto verdict : {Verdict::unchanged, Verdict::regressed, Verdict::improved,
                             Verdict::inconclusive, Verdict::failed, Verdict::unsupported}) {
    judge(NightKind::self_test, verdict);
  }
  judge(NightKind::compare, Verdict::regressed);
  const auto tallies = nights.self_tests().value();
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
