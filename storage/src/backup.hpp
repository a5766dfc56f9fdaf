#pragma once

#include <filesystem>

#include "connection.hpp"

namespace torchwatch::storage {

/// A checked copy of the live database at `target` (a copy of the file alone would lack its log).
/// Written beside it as `.partial`, synced and renamed, so that `target` is whole or absent.
Status back_up(Connection&, const std::filesystem::path& target);

/// Where the copy of a database of that version lies that is made before it is migrated.
std::filesystem::path backup_before_migration(const std::filesystem::path& database, int version);

}  // namespace torchwatch::storage
