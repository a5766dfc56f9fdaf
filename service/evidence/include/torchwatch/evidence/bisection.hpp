#pragma once

#include <vector>

#include "torchwatch/drawing/posterior.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

/// Returns how the belief in each commit moved, from the steps that bisection::trace_of makes of
/// the stored events. A column is a commit that was tried, with those before it that were not: the
/// steps do not know their names. Pure.
drawing::PosteriorSteps posterior_steps(const Context&, const storage::BisectionRow&,
                                        const std::vector<report::TraceStep>&);

}  // namespace torchwatch::evidence
