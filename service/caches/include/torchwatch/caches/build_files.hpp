#pragma once

#include <filesystem>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/report/build_files.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::caches {

// What people do with the files of one build. What was measured with it stays.

/// Returns the files of a build as they lie here, without their size, which takes a while.
report::BuildFiles files_of(const storage::BuildRow&, const config::Config&);

/// Returns whether somebody wants the build's files kept, whatever the cache's limit is.
bool is_pinned(const storage::BuildRow&);

/// Pins the files of a build, or with `keep` false lets them go again when the cache is full.
/// Returns false where there is nothing to do: they lie outside [build] cache, where nothing is
/// removed. Errors: conflict (the build has no files here), unavailable (the disk).
Result<bool> pin(const storage::BuildRow&, const config::Config&, bool keep);

/// Removes the files of a build from the cache. Errors: conflict (there are none, they lie outside
/// [build] cache or are pinned, work that has not ended may need them), unavailable (the disk).
Status remove_files(storage::Database&, const config::Config&, const storage::BuildRow&);

/// Removes a folder of the cache, renamed first so that nobody sees it half removed under its name.
/// Errors: unavailable.
Status remove_folder(const std::filesystem::path&);

}  // namespace torchwatch::caches
