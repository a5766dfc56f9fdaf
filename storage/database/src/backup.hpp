#pragma once

#include <filesystem>

#include "connection.hpp"

namespace torchwatch::storage {

/// Makes a checked copy of the live database at `target`; copying the file alone would lose its
/// log. Written next to it as `.partial`, synced and renamed, so that `target` is whole or absent.
Status back_up(Connection&, const std::filesystem::path& target);

/// Returns the path of the copy that is made before a database of that version is migrated.
std::filesystem::path backup_before_migration(const std::filesystem::path& database, int version);

}  // namespace torchwatch::storage
