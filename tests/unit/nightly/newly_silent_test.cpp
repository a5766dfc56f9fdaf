#include "newly_silent.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::nightly;
using storage::VerdictRow;

namespace {

VerdictRow verdict(const std::string& workload, Metric metric, Verdict of, double value) {
  VerdictRow row;
  row.target = {{workload, {Device::cpu, Mode::train}, {}}, metric};
  row.verdict = of;
  row.baseline_value = row.candidate_value = value;
  row.reason = "killed by signal 11 (SIGSEGV)";
  return row;
}

/// Whether a series that runs with neither build tonight is lost, by what it was the night before.
bool is_lost_after(const std::vector<VerdictRow>& before) {
  std::vector<Finding> findings{{verdict("a", Metric::time, Verdict::failed, 0), false}};
  mark_newly_silent(before, findings);
  return findings[0].lost;
}

}  // namespace

TEST_CASE("what runs with neither build is lost if it ran the night before, and only then") {
  CHECK(is_lost_after({verdict("a", Metric::time, Verdict::unchanged, 5)}));
  CHECK(is_lost_after({verdict("a", Metric::time, Verdict::inconclusive, 5)}));
  CHECK(is_lost_after({verdict("a", Metric::device_time, Verdict::unchanged, 5)}));
  CHECK_FALSE(is_lost_after({}));
  CHECK_FALSE(is_lost_after({verdict("b", Metric::time, Verdict::unchanged, 5)}));
  CHECK_FALSE(is_lost_after({verdict("a", Metric::cpu_peak, Verdict::unchanged, 5)}));
  CHECK_FALSE(is_lost_after({verdict("a", Metric::time, Verdict::failed, 0)}));
  CHECK_FALSE(is_lost_after({verdict("a", Metric::time, Verdict::unsupported, 0)}));
}

TEST_CASE("a lost series says that it ran, and a series with figures is left alone") {
  const std::vector<VerdictRow> before{verdict("a", Metric::time, Verdict::unchanged, 5),
                                       verdict("b", Metric::time, Verdict::unchanged, 5)};
  std::vector<Finding> findings{{verdict("a", Metric::time, Verdict::unsupported, 0), false},
                                {verdict("b", Metric::time, Verdict::failed, 5), false}};
  mark_newly_silent(before, findings);
  CHECK(findings[0].lost);
  CHECK_THAT(findings[0].verdict.reason, Catch::StartsWith("runs with neither build"));
  CHECK_FALSE(findings[1].lost);
}
