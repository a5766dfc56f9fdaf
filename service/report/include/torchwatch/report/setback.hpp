#pragma once

#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns the error of an item that waits for a build: "waits for build 2026-08-17". What is wrong
/// with the build is said once, of the build.
std::string waits_for_build(const std::string& build);

/// Says in a line what an item waits for, how often it was tried and when it is tried again: "no
/// network; tried 2 of 3 times; next try 03:06 UTC".
std::string setback_text(const storage::SetbackRow&);

/// Says the same with its beginning, for a list: "waits since 2026-08-17 03:04: no network; ...".
std::string waiting_text(const storage::SetbackRow&);

/// Returns that text of the item; empty if it does not wait. Errors: of storage.
Result<std::string> what_it_waits_for(storage::Database&, storage::ItemKind, storage::Id);

}  // namespace torchwatch::report
