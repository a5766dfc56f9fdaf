#pragma once

#include <filesystem>

#include "connection.hpp"

namespace torchwatch::storage {

/// Copies the live database to `target`, as `back_up` does; copying the file alone would lose its
/// log. Checks pages and references of the copy, and no invariant: these are written for the newest
/// schema.
Status copy_before_migration(Connection&, const std::filesystem::path& target);

/// Returns the path of the copy that is made before a database of that version is migrated.
std::filesystem::path backup_before_migration(const std::filesystem::path& database, int version);

}  // namespace torchwatch::storage
