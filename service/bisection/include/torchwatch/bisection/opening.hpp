#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// Opens the bisection for an incident's culprit, by the settings that judged its series, where
/// there are commits to search; otherwise does nothing, and the incident is reported without one.
/// Call inside the verdict's transaction.
Status open_bisection(comparison::Services&, const comparison::Comparison&,
                      const comparison::SeriesSettings&, const storage::IncidentRow&);

/// Makes the specification of a bisection that a person asked for, without its series: the limits
/// of the configuration, and the newest build that recipes may start from. Errors: invalid and
/// not_found (the range); of storage.
Result<BisectionSpec> requested_spec(comparison::Services&, const std::string& good,
                                     const std::string& bad);

/// Opens the bisection of these series, or returns an open one with the same specification, which
/// was interrupted. Without series it is ended at once: nothing got worse. `preset`: none is as
/// [suite] has it.
Result<storage::BisectionRow> open_requested_bisection(comparison::Services&, BisectionSpec,
                                                       const std::vector<Series>&,
                                                       std::optional<Preset> preset);

}  // namespace torchwatch::bisection
