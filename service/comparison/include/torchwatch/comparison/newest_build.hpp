#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// Returns the build that is meant where none is named: the last nightly in the order of nightlies;
/// without one the newest release, and without that the newest folder that was named on this
/// machine. It can be measured, and its libraries lie where they were. It is never a commit's, nor
/// the head of a pull request, which nothing that is trusted may read. Errors: those of storage.
Result<std::optional<storage::BuildRow>> newest_build(storage::Database&);

}  // namespace torchwatch::comparison
