#pragma once

#include <stop_token>
#include <vector>

#include "connection.hpp"

namespace torchwatch::storage {

/// Does what Database::check_invariants does. Throws SQLite::Exception, so use it inside `guarded`.
Result<std::vector<InvariantBreach>> broken_invariants(Connection&, std::stop_token stop = {});

}  // namespace torchwatch::storage
