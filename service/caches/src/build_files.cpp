#include "torchwatch/caches/build_files.hpp"

#include <chrono>

#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::caches {
namespace {

namespace fs = std::filesystem;
using storage::BuildRow;

/// As `torchwatch build list` has it.
std::string name_of(const BuildRow& build) {
  return build.origin == storage::BuildOrigin::commit ? short_sha(build.name) : build.name;
}

Status require_files(const BuildRow& build) {
  std::error_code ignored;
  if (!build.folder.empty() && fs::exists(build.folder, ignored)) return {};
  return fail(ErrorCode::conflict, "build " + name_of(build) + " has no files here");
}

/// Whether the service itself has made or fetched the build's files.
bool is_in_cache(const BuildRow& build, const config::Config& config) {
  return platform::lies_in(platform::without_links(build.folder),
                           platform::without_links(config.build.cache));
}

/// Errors: conflict, when work that has not ended may need the build.
Status require_unused(storage::Database& database, const BuildRow& build) {
  TW_TRY(const auto comparisons, storage::ComparisonStore(database).unfinished());
  for (const auto& row : comparisons) {
    if (row.candidate != build.id && row.baseline != build.id) continue;
    return fail(ErrorCode::conflict, "comparison " + std::to_string(row.id) +
                                         " needs it: cancel that first, or wait for its end");
  }
  TW_TRY(const auto bisections, storage::BisectionStore(database).unfinished());
  if (bisections.empty()) return {};
  return fail(ErrorCode::conflict, "bisection " + std::to_string(bisections.front().id) +
                                       " may need it: cancel that first, or wait for its end");
}

/// When a build of the cache was noted as used; 0 where it was not.
storage::WallMillis noted_millis_of(const BuildRow& build) {
  const auto noted = builds::noted_use_of(build.folder);
  if (!noted) return 0;
  const auto time = std::chrono::file_clock::to_sys(*noted).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

report::BuildFiles files_of(const BuildRow& build, const config::Config& config) {
  report::BuildFiles files{.were_there = !build.folder.empty()};
  files.are_there = require_files(build).has_value();
  if (!files.are_there) return files;
  files.are_pinned = is_pinned(build);
  files.are_in_cache = is_in_cache(build, config);
  files.last_used = noted_millis_of(build);
  return files;
}

bool is_pinned(const BuildRow& build) {
  std::error_code ignored;
  return fs::exists(fs::path(build.folder) / builds::kPinned, ignored);
}

Result<bool> pin(const BuildRow& build, const config::Config& config, bool keep) {
  TW_TRY_VOID(require_files(build));
  if (!is_in_cache(build, config)) return false;
  const auto mark = fs::path(build.folder) / builds::kPinned;
  if (keep) {
    TW_TRY_VOID(platform::publish_file(mark, ""));
    return true;
  }
  std::error_code error;
  fs::remove(mark, error);
  if (!error) return true;
  return fail(ErrorCode::unavailable, "cannot remove " + mark.string() + ": " + error.message());
}

Status remove_files(storage::Database& database, const config::Config& config,
                    const BuildRow& build) {
  TW_TRY_VOID(require_files(build));
  if (!is_in_cache(build, config)) {
    return fail(ErrorCode::conflict, build.folder + " is not in [build] cache (" +
                                         config.build.cache.string() +
                                         "): torchwatch does not touch it");
  }
  if (is_pinned(build)) {
    const auto name = name_of(build);
    return fail(ErrorCode::conflict, "build " + name + " is pinned: `torchwatch build pin " + name +
                                         " --release` first");
  }
  TW_TRY_VOID(require_unused(database, build));
  return remove_folder(build.folder);
}

Status remove_folder(const fs::path& folder) {
  std::error_code error;
  auto removed = folder;
  if (folder.extension() != builds::kRemovedSuffix) {
    removed += builds::kRemovedSuffix;
    fs::rename(folder, removed, error);
  }
  if (!error) fs::remove_all(removed, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable, "cannot remove " + folder.string() + ": " + error.message());
}

}  // namespace torchwatch::caches
