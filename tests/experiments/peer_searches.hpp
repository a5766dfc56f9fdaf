#pragma once

#include <vector>

#include "recorded_day.hpp"

namespace torchwatch::experiments {

// The rules of other searches, made small to run on the same days. What they share: a commit that
// does not build is replaced by the nearest one that does, and commits between two neighbouring
// builds are blamed together.

/// The commits blamed, a set for each culprit; empty: no answer.
using Blamed = std::vector<std::vector<std::size_t>>;

/// Binary search with one run a commit; bad is what is more than 7 % slower than the good end, the
/// bad end too.
Blamed binary_search_7_percent(DayRuns&);

/// `git bisect run` with the median of five runs of a commit, which is bad when it lies nearer to
/// the bad end's median. Not started where the ends' medians differ by less than 3.5 %.
Blamed git_bisect_median_of_five(DayRuns&);

/// The same rule with several builders: a round builds as many commits, evenly spaced in what is
/// left, and leaves what lies between the last good and the first bad one of them.
Blamed section_median_of_five(DayRuns&, std::size_t builders);

/// Pinpoint's rules (catapult-project/catapult, dashboard/pinpoint/models: job_state.py, compare):
/// ten attempts of each end; neighbouring commits are compared by the lower p-value of Mann-Whitney
/// and Kolmogorov-Smirnov: below 0.01 they differ, and the middle between them is tried; above a
/// value that depends on the attempts and on the size of the step looked for they do not; between,
/// attempts are doubled, here up to 40. `step` is the true one.
Blamed pinpoint(DayRuns&, double step);

/// git_bayesect's rules (hauntsaninja/git_bayesect): one run at a time fails or passes; Beta priors
/// of the chance to fail, (0.9, 0.1) from the culprit on and (0.05, 0.95) before it; the next run
/// is of the commit that leaves the least entropy to expect; blames at 0.99, gives up after 400
/// runs. A run fails when it is nearer to `step` than to none, which is the ideal cut.
Blamed bayes_of_pass_and_fail(DayRuns&, double step);

/// Two-sided p-values by the normal and the asymptotic distribution, as Pinpoint has them.
double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b);
double kolmogorov_smirnov_p(std::vector<double> a, std::vector<double> b);

}  // namespace torchwatch::experiments
