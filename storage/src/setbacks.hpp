#pragma once

#include "connection.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::storage {

/// What an item waited for ends with the item. Throws SQLite::Exception, so use it inside
/// `guarded`.
void forget_setback(Connection&, ItemKind, Id item);

}  // namespace torchwatch::storage
