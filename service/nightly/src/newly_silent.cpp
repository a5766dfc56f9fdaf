#include "newly_silent.hpp"

#include <algorithm>

namespace torchwatch::nightly {
namespace {

using storage::VerdictRow;

bool is_silent(Verdict verdict) {
  return verdict == Verdict::failed || verdict == Verdict::unsupported;
}

bool had_figures(const VerdictRow& verdict) {
  return !is_silent(verdict.verdict) && verdict.candidate_value > 0;
}

/// A cell that fails names one metric of its pass, whichever it would have had.
bool is_same_pass(const Target& a, const Target& b) {
  return a.cell == b.cell && pass_of(a.metric) == pass_of(b.metric);
}

}  // namespace

void mark_newly_silent(const std::vector<VerdictRow>& before, std::vector<Finding>& findings) {
  for (auto& finding : findings) {
    auto& now = finding.verdict;
    if (finding.lost || !is_silent(now.verdict) || now.baseline_value > 0 ||
        now.candidate_value > 0) {
      continue;
    }
    finding.lost = std::ranges::any_of(before, [&](const VerdictRow& then) {
      return had_figures(then) && is_same_pass(then.target, now.target);
    });
    if (finding.lost) {
      now.reason = "runs with neither build, and ran the night before: " + now.reason;
    }
  }
}

}  // namespace torchwatch::nightly
