#include "torchwatch/report/recheck.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace torchwatch;
using namespace torchwatch::report;

namespace {

constexpr storage::WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z

Series series(const std::string& workload) {
  return {{workload, {Device::cpu, Mode::train}, {}}, Metric::time};
}

storage::IncidentRow incident_of(IncidentKind kind = IncidentKind::regression) {
  storage::IncidentRow row;
  row.kind = kind;
  row.series.resize(2);
  row.series[0].series = series("dlrm");
  row.series[1].series = series("dcgan");
  return row;
}

std::vector<storage::VerdictRow> verdicts(Verdict first, Verdict second) {
  std::vector<storage::VerdictRow> rows(2);
  rows[0].series = series("dlrm");
  rows[0].verdict = first;
  rows[1].series = series("dcgan");
  rows[1].verdict = second;
  return rows;
}

Recheck recheck(RecheckOutcome outcome) {
  Recheck recheck;
  recheck.comparison.id = 7;
  recheck.comparison.ended_at = kNow;
  recheck.candidate = "2026-08-18";
  recheck.outcome = outcome;
  return recheck;
}

}  // namespace

TEST_CASE("an incident is gone when all its series are, and there while one is worse") {
  using enum Verdict;
  const auto outcome = [](Verdict first, Verdict second) {
    return outcome_for(incident_of(), verdicts(first, second));
  };
  CHECK(outcome(unchanged, improved) == RecheckOutcome::gone);
  CHECK(outcome(unchanged, regressed) == RecheckOutcome::still_there);
  CHECK(outcome(unchanged, inconclusive) == RecheckOutcome::unclear);
  CHECK(outcome(unchanged, failed) == RecheckOutcome::unclear);
  CHECK(outcome_for(incident_of(), {}) == RecheckOutcome::unclear);
}

TEST_CASE("what was lost is there as long as it gives no result") {
  using enum Verdict;
  const auto lost = incident_of(IncidentKind::lost);
  CHECK(outcome_for(lost, verdicts(unchanged, failed)) == RecheckOutcome::still_there);
  CHECK(outcome_for(lost, verdicts(unchanged, unsupported)) == RecheckOutcome::still_there);
  CHECK(outcome_for(lost, verdicts(unchanged, inconclusive)) == RecheckOutcome::unclear);
  CHECK(outcome_for(lost, verdicts(unchanged, unchanged)) == RecheckOutcome::gone);
}

TEST_CASE("what was lost is over once it runs, also where it runs more slowly") {
  using enum Verdict;
  const auto lost = incident_of(IncidentKind::lost);
  CHECK(outcome_for(lost, verdicts(unchanged, regressed)) == RecheckOutcome::gone);
  CHECK(outcome_for(incident_of(), verdicts(unchanged, regressed)) == RecheckOutcome::still_there);
}

TEST_CASE("what was lost is over once all its runs give a value, however noisy they are") {
  const auto lost = incident_of(IncidentKind::lost);
  auto noisy = verdicts(Verdict::unchanged, Verdict::inconclusive);
  noisy[1].ratio = 1.1;
  CHECK(outcome_for(lost, noisy) == RecheckOutcome::gone);
  noisy[1].ratio = 0;
  noisy[1].candidate_value = 1e6;
  CHECK(outcome_for(lost, noisy) == RecheckOutcome::unclear);
}

TEST_CASE("a series that one recheck has shown gone counts until a later one finds it worse") {
  using enum Verdict;
  const auto outcome = [](const Verdicts& now, const std::vector<Verdicts>& before) {
    return outcome_for(incident_of(), now, before);
  };
  const auto first_gone = verdicts(unchanged, inconclusive);
  const auto second_gone = verdicts(inconclusive, unchanged);
  const auto first_worse = verdicts(regressed, inconclusive);
  const auto both_unclear = verdicts(inconclusive, inconclusive);
  CHECK(outcome(second_gone, {}) == RecheckOutcome::unclear);
  CHECK(outcome(second_gone, {first_gone}) == RecheckOutcome::gone);
  CHECK(outcome(second_gone, {both_unclear, {}, first_gone}) == RecheckOutcome::gone);
  CHECK(outcome(both_unclear, {second_gone, first_gone}) == RecheckOutcome::gone);
  CHECK(outcome(second_gone, {first_worse, first_gone}) == RecheckOutcome::unclear);
  CHECK(outcome(first_worse, {first_gone, second_gone}) == RecheckOutcome::still_there);
}

TEST_CASE("series that cannot be measured any more keep no incident open") {
  auto left = verdicts(Verdict::unchanged, Verdict::unchanged);
  left.pop_back();
  CHECK(outcome_for(incident_of(), left) == RecheckOutcome::gone);
  left[0].verdict = Verdict::inconclusive;
  CHECK(outcome_for(incident_of(), left) == RecheckOutcome::unclear);
  auto gone = recheck(RecheckOutcome::gone);
  gone.unmeasured = {series("dcgan"), series("dlrm")};
  CHECK(recheck_text(gone) ==
        "2026-08-18 on 2026-08-17 03:04 UTC (comparison 7): gone, without dcgan cpu-train time and "
        "1 more, which had no result");
}

TEST_CASE("a change is gone once its whole interval lies below half of what it was") {
  auto incident = incident_of();
  incident.series.resize(1);
  incident.series[0].ratio = 1.21;
  const auto outcome = [&](Verdict verdict, double ratio, double high) {
    storage::VerdictRow row;
    row.series = series("dlrm");
    row.verdict = verdict;
    row.ratio = ratio;
    row.interval_high = high;
    return outcome_for(incident, {row});
  };
  CHECK(outcome(Verdict::unchanged, 1.0, 1.03) == RecheckOutcome::gone);
  CHECK(outcome(Verdict::unchanged, 1.05, 1.08) == RecheckOutcome::gone);
  CHECK(outcome(Verdict::unchanged, 1.05, 1.11) == RecheckOutcome::unclear);
  CHECK(outcome(Verdict::unchanged, 1.0, std::numeric_limits<double>::infinity()) ==
        RecheckOutcome::unclear);
  CHECK(outcome(Verdict::unchanged, 1.0, 0) == RecheckOutcome::unclear);
  CHECK(outcome(Verdict::improved, 0.8, 0.9) == RecheckOutcome::gone);
  incident.series[0].ratio = 1.07;
  CHECK(outcome(Verdict::unchanged, 1.05, 1.06) == RecheckOutcome::unclear);
}

TEST_CASE("a recheck is said with its build, its time and how large the change is still") {
  auto there = recheck(RecheckOutcome::still_there);
  there.worse.resize(2);
  there.worse[0].series = series("dlrm");
  there.worse[0].ratio = 1.12;
  CHECK(recheck_text(there) ==
        "2026-08-18 on 2026-08-17 03:04 UTC (comparison 7): still there, dlrm cpu-train time "
        "+12.0 % and 1 more");
  CHECK(recheck_text(recheck(RecheckOutcome::gone)) ==
        "2026-08-18 on 2026-08-17 03:04 UTC (comparison 7): gone");
  auto due = recheck(RecheckOutcome::due);
  due.comparison.ended_at = 0;
  CHECK(recheck_text(due) == "2026-08-18 (comparison 7): not measured yet");
  auto none = recheck(RecheckOutcome::none);
  none.comparison.state = storage::ComparisonState::cancelled;
  none.comparison.reason = "by a person";
  CHECK(recheck_text(none) ==
        "2026-08-18 on 2026-08-17 03:04 UTC (comparison 7): no result, cancelled: by a person");
}

TEST_CASE("a recheck as JSON names the series that are worse still") {
  auto there = recheck(RecheckOutcome::still_there);
  there.worse.resize(1);
  there.worse[0].series = series("dlrm");
  there.worse[0].ratio = 1.12;
  const auto object = json_of(there);
  CHECK(object.at("comparison") == 7);
  CHECK(object.at("candidate") == "2026-08-18");
  CHECK(object.at("outcome") == "still_there");
  CHECK(object.at("effects").at(0).at("workload") == "dlrm");
  CHECK(object.at("effects").at(0).at("ratio") == 1.12);
  CHECK(object.at("ended_at") == "2026-08-17T03:04:05Z");
  CHECK(json_of(recheck(RecheckOutcome::gone)).at("effects").empty());
}
