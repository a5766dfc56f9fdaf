#pragma once

#include "query.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Stores a whole result in the caller's transaction. The attempt must be done.
void store_result(Connection&, Id attempt, Id benchmark, const RunResult&);

/// Returns the whole result. Errors: not_found, corrupt.
Result<RunResult> load_result(Connection&, Id attempt);

}  // namespace torchwatch::storage
