#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns the build that is meant where none is named: the last nightly in their order, else the
/// newest release, else the newest folder that was named on this machine. It can be measured, and
/// its libraries are there. A pull request's head is never it. Errors: those of storage.
Result<std::optional<storage::BuildRow>> newest_build(storage::Database&);

}  // namespace torchwatch::report
