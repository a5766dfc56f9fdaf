#pragma once

#include <vector>

#include "torchwatch/drawing/posterior.hpp"
#include "torchwatch/drawing/probes.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

/// Returns how the belief in each commit moved, from the steps that bisection::trace_of makes of
/// the stored events. A column is a commit that was tried, with those before it that were not: the
/// steps do not know their names. Pure.
drawing::PosteriorSteps posterior_steps(const Context&, const storage::BisectionRow&,
                                        const std::vector<report::TraceStep>&);

/// Returns for how long processes measured for a search, in seconds; those that ran side by side
/// count once. Errors: of storage.
Result<double> seconds_measured(const Context&, const storage::BisectionRow&,
                                const std::vector<report::TraceStep>&);

/// Returns what each commit that was tried has read by itself, of the first series of those steps,
/// the good end first: every sample of its runs, or the value of each run where there are more than
/// four hundred. Errors: of storage.
Result<drawing::ProbeStrips> probe_strips(const Context&, const storage::BisectionRow&,
                                          const std::vector<report::TraceStep>&);

}  // namespace torchwatch::evidence
