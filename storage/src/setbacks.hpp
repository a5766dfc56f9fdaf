#pragma once

#include "connection.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::storage {

/// What an item waited for ends with the item. Throws SQLite::Exception, so use it inside
/// `guarded`.
void forget_setback(Connection&, ItemKind, Id item);

/// What a build that lies here waited for ends with the last comparison that needs the build.
/// Likewise.
void forget_builds_without_need(Connection&);

/// Forgets what two builds wait for, so that they are tried again at once. Likewise.
void forget_setbacks_of_builds(Connection&, Id build, std::optional<Id> other);

}  // namespace torchwatch::storage
