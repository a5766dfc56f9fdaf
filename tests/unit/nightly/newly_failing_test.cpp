#include <catch2/catch.hpp>

#include "judging.hpp"

using namespace torchwatch;
using namespace torchwatch::nightly;
using comparison::JudgedSeries;
using storage::VerdictRow;

namespace {

VerdictRow verdict(const std::string& workload, Metric metric, Verdict of, double value) {
  VerdictRow row;
  row.series = {{workload, {Device::cpu, Mode::train}, {}}, metric};
  row.verdict = of;
  row.baseline_value = row.candidate_value = value;
  row.reason = "killed by signal 11 (SIGSEGV)";
  return row;
}

/// Returns whether a series that runs with neither build is lost, after these verdicts in the
/// nightly before.
bool is_lost_after(const std::vector<VerdictRow>& before) {
  std::vector<JudgedSeries> judged{{verdict("a", Metric::time, Verdict::failed, 0), false}};
  mark_newly_failing(before, judged);
  return judged[0].lost;
}

}  // namespace

TEST_CASE("a series that runs with neither build is lost only if it ran in the nightly before") {
  CHECK(is_lost_after({verdict("a", Metric::time, Verdict::unchanged, 5)}));
  CHECK(is_lost_after({verdict("a", Metric::time, Verdict::inconclusive, 5)}));
  CHECK(is_lost_after({verdict("a", Metric::device_time, Verdict::unchanged, 5)}));
  CHECK_FALSE(is_lost_after({}));
  CHECK_FALSE(is_lost_after({verdict("b", Metric::time, Verdict::unchanged, 5)}));
  CHECK_FALSE(is_lost_after({verdict("a", Metric::cpu_peak, Verdict::unchanged, 5)}));
  CHECK_FALSE(is_lost_after({verdict("a", Metric::time, Verdict::failed, 0)}));
  CHECK_FALSE(is_lost_after({verdict("a", Metric::time, Verdict::unsupported, 0)}));
}

TEST_CASE("the reason of a lost series says that it ran, and a series with values is left alone") {
  const std::vector<VerdictRow> before{verdict("a", Metric::time, Verdict::unchanged, 5),
                                       verdict("b", Metric::time, Verdict::unchanged, 5)};
  std::vector<JudgedSeries> judged{{verdict("a", Metric::time, Verdict::unsupported, 0), false},
                                   {verdict("b", Metric::time, Verdict::failed, 5), false}};
  mark_newly_failing(before, judged);
  CHECK(judged[0].lost);
  CHECK_THAT(judged[0].verdict.reason, Catch::StartsWith("runs with neither build"));
  CHECK_FALSE(judged[1].lost);
}
