#pragma once

#include <span>

#include "connection.hpp"
#include "embedded_sql.hpp"

namespace torchwatch::storage {

/// Nothing is touched in a file that is not ours to write. Errors: conflict when a newer program
/// made it, invalid when another program did.
Status check_version(Connection&, std::span<const SqlFile> migrations);

/// Brings the schema to version migrations.size(), one BEGIN IMMEDIATE transaction each with
/// user_version inside it; a database that holds something is backed up first.
Status migrate(Connection&, std::span<const SqlFile> migrations);

/// The schema is exactly of version migrations.size(), as a reader needs it.
Status require_current(Connection&, std::span<const SqlFile> migrations);

int user_version(Connection&);

}  // namespace torchwatch::storage
