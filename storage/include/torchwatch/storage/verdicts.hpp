#pragma once

#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Returns the verdicts of a comparison by benchmark, in the order in which these were known, and
/// by metric.
Result<std::vector<VerdictRow>> verdicts_of(Database&, Id comparison);
/// The same of one metric.
Result<std::vector<VerdictRow>> verdicts_of(Database&, Id comparison, Metric);
/// Returns the comparison's verdict on a series, if it has one.
Result<std::optional<VerdictRow>> verdict_on(Database&, Id comparison, const Series&);

}  // namespace torchwatch::storage
