#pragma once

#include <span>

#include "connection.hpp"
#include "embedded_sql.hpp"

namespace torchwatch::storage {

/// Checks that the file may be written, before it is touched. Errors: conflict (a newer torchwatch
/// made it), invalid (another program did).
Status check_version(Connection&, std::span<const SqlFile> migrations);

/// Brings the schema to version migrations.size(). Each migration is one BEGIN IMMEDIATE
/// transaction with user_version inside it; a database with content is backed up first.
Status migrate(Connection&, std::span<const SqlFile> migrations);

/// The same for a copy that nobody else uses: it is not backed up.
Status migrate_copy(Connection&, std::span<const SqlFile> migrations);

/// Checks that the schema has exactly version migrations.size(), as a reader needs it. Errors:
/// conflict.
Status require_current(Connection&, std::span<const SqlFile> migrations);

int user_version(Connection&);

}  // namespace torchwatch::storage
