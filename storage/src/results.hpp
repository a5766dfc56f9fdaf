#pragma once

#include "query.hpp"

namespace torchwatch::storage {

/// Keeps all that a runner stated, in the caller's transaction. The attempt is done already.
void store_result(Connection&, Id attempt, Id cell, const std::string& token, const RunResult&);

/// The whole result again. Errors: not_found, corrupt.
Result<RunResult> load_result(Connection&, Id attempt);

}  // namespace torchwatch::storage
