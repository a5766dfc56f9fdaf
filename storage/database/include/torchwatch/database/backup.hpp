#pragma once

#include <filesystem>

#include "torchwatch/database/database.hpp"

namespace torchwatch::storage {

/// Copies an open database to the new file `target`, also while another process writes it: the copy
/// is the database as it was at one moment. Written beside it as `.partial`, checked whole (every
/// invariant, every digest), synced and renamed, so that `target` is whole or absent. It has the
/// mode of the database. Errors: invalid (there is a file already), corrupt (the database breaks a
/// rule), unavailable.
Status back_up(Database&, const std::filesystem::path& target);

/// Puts a backup in the place of `database`. Checks the backup first, and brings one of an earlier
/// torchwatch to this schema; keeps the replaced file and returns its path (empty: there was none).
/// The restored file has the mode of the replaced one (else of its folder) and, where root
/// restores, its owner. Errors: conflict (a process writes the database, or a newer torchwatch made
/// the backup), not_found, invalid, corrupt, unavailable; nothing is replaced then.
Result<std::filesystem::path> restore(const std::filesystem::path& backup,
                                      const std::filesystem::path& database);

}  // namespace torchwatch::storage
