#include "torchwatch/daemon/caches.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>

#include "torchwatch/health/problem.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLastUsed = "last-used";
constexpr const char* kRemovedSuffix = ".removed";
constexpr int kIncidentsLookedAt = 1000;

std::int64_t bytes_of(const fs::path& folder) {
  platform::FileBytes bytes;
  for (const auto& entry : platform::list_tree(folder).entries) bytes.add(entry);
  return bytes.sum();
}

/// Something in the cache that goes as a whole.
struct Entry {
  fs::path folder;
  fs::file_time_type last_used;
};

fs::file_time_type last_use_of(const fs::path& folder) {
  std::error_code error;
  const auto noted = fs::last_write_time(folder / kLastUsed, error);
  if (!error) return noted;
  const auto made = fs::last_write_time(folder, error);
  return error ? fs::file_time_type::min() : made;
}

std::vector<Entry> entries_of(const fs::path& cache) {
  std::vector<Entry> entries;
  for (const auto& entry : platform::list_folder(cache).entries) {
    std::error_code gone;
    if (!entry.is_directory(gone) || entry.path().filename() == "known") continue;
    entries.push_back({entry.path(), last_use_of(entry.path())});
  }
  std::ranges::sort(entries, {}, &Entry::last_used);
  return entries;
}

CacheSizes sizes_of(const fs::path& cache) {
  return {.commits = bytes_of(cache / "commits"),
          .releases = bytes_of(cache / "releases"),
          .kits = bytes_of(cache / "kits")};
}

/// The builds whose trees something needs that is not over.
Result<std::set<storage::Id>> needed_builds(storage::Database& database, int nightlies_kept) {
  std::set<storage::Id> needed;
  storage::ComparisonStore comparisons(database);
  const auto need = [&](const storage::ComparisonRow& row) {
    needed.insert(row.candidate);
    if (row.baseline) needed.insert(*row.baseline);
  };
  TW_TRY(const auto unfinished, comparisons.unfinished());
  for (const auto& row : unfinished) need(row);
  TW_TRY(const auto nightlies, comparisons.nightlies_before(INT64_MAX, nightlies_kept));
  for (const auto& row : nightlies) need(row);
  TW_TRY(const auto incidents, storage::IncidentStore(database).list(kIncidentsLookedAt));
  for (const auto& incident : incidents) {
    if (incident.state == storage::IncidentState::closed) continue;
    TW_TRY(const auto row, comparisons.get(incident.comparison));
    need(row);
  }
  return needed;
}

bool lies_in(const std::string& tree, const fs::path& folder) {
  const auto below = fs::path(tree).lexically_relative(folder);
  return !below.empty() && *below.begin() != "..";
}

/// Removes the folder, renamed first so that nobody sees it half removed under its name.
Status remove_entry(const fs::path& folder) {
  std::error_code error;
  auto removed = folder;
  if (folder.extension() != kRemovedSuffix) {
    removed += kRemovedSuffix;
    fs::rename(folder, removed, error);
  }
  if (!error) fs::remove_all(removed, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable, "cannot remove " + folder.string() + ": " + error.message());
}

/// Kits and releases that may go, the least recently used first.
Result<std::vector<Entry>> removable(Application& application, const fs::path& cache) {
  auto& database = application.services().database;
  TW_TRY(const auto needed, needed_builds(database, application.services().config.channel.keep));
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  auto entries = entries_of(cache / "releases");
  std::erase_if(entries, [&](const Entry& entry) {
    return std::ranges::any_of(builds, [&](const storage::BuildRow& row) {
      return needed.contains(row.id) && lies_in(row.folder, entry.folder);
    });
  });
  std::ranges::move(entries_of(cache / "kits"), std::back_inserter(entries));
  std::ranges::sort(entries, {}, &Entry::last_used);
  return entries;
}

struct Removal {
  std::int64_t bytes = 0;  ///< that went
  Status done;             ///< what could not be removed
};

/// Takes one entry out of the cache of commits, if it has older ones than `other`; null: any.
Removal remove_older_commit(Application& application, const fs::path& cache, const Entry* other) {
  auto* const commits = application.services().commits;
  const auto entries = entries_of(cache / "commits");
  if (commits == nullptr || entries.empty()) return {};
  if (other != nullptr && entries.front().last_used > other->last_used) return {};
  const auto before = bytes_of(cache / "commits");
  auto done = commits->evict(std::max<std::int64_t>(before - 1, 0));
  return {.bytes = before - bytes_of(cache / "commits"), .done = std::move(done)};
}

Status shrink(Application& application, const fs::path& cache, std::int64_t bytes_max) {
  TW_TRY(auto others, removable(application, cache));
  auto next = others.begin();
  Status removed_all;
  // Measured anew each time: a release gives little back while another one shares its libraries.
  while (sizes_of(cache).sum() > bytes_max) {
    const auto* const other = next == others.end() ? nullptr : &*next;
    // One that cannot be removed keeps no other in the cache.
    const auto removed = remove_older_commit(application, cache, other);
    if (!removed.done && removed_all) removed_all = removed.done;
    if (removed.bytes > 0) continue;
    if (next == others.end()) break;
    const auto gone = remove_entry(next->folder);
    if (!gone && removed_all) removed_all = gone;
    ++next;
  }
  return removed_all;
}

/// Copies that were made before migrations, but the newest.
std::vector<fs::path> remove_old_copies(const fs::path& database) {
  std::vector<std::pair<fs::file_time_type, fs::path>> copies;
  const auto begins = database.filename().string() + ".v";
  for (const auto& entry : platform::list_folder(database.parent_path()).entries) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(begins) || !name.ends_with(".backup")) continue;
    std::error_code gone;
    const auto written = entry.last_write_time(gone);
    if (!gone) copies.emplace_back(written, entry.path());
  }
  std::ranges::sort(copies);
  if (!copies.empty()) copies.pop_back();
  std::vector<fs::path> removed;
  for (const auto& [time, path] : copies) {
    std::error_code failed;
    if (fs::remove(path, failed)) removed.push_back(path);
  }
  return removed;
}

}  // namespace

Result<Tidied> tidy_caches(Application& application, std::int64_t bytes_max) {
  const auto& cache = application.config().build.cache;
  Tidied tidied{.before = sizes_of(cache), .after = {}, .copies = {}};
  TW_TRY_VOID(shrink(application, cache, bytes_max));
  tidied.after = sizes_of(cache);
  tidied.copies = remove_old_copies(application.config().storage.path);
  return tidied;
}

void note_use(const fs::path& folder) {
  std::ofstream(folder / kLastUsed).flush();
  std::error_code ignored;  // the entry goes a little early then
  fs::last_write_time(folder / kLastUsed, fs::file_time_type::clock::now(), ignored);
}

std::optional<std::int64_t> bytes_to_keep(std::int64_t cached, std::int64_t free_bytes,
                                          std::int64_t reserve) {
  const auto missing = reserve - free_bytes;
  if (missing <= 0 || missing > cached) return std::nullopt;
  return cached - missing;
}

Status reserve_disk(Application& application) {
  const auto& config = application.config();
  if (health::require_disk_reserve(config)) return {};
  std::error_code error;
  const auto free_bytes = fs::space(config.build.cache, error).available;
  const auto kept =
      bytes_to_keep(sizes_of(config.build.cache).sum(), static_cast<std::int64_t>(free_bytes),
                    config.build.disk_reserve_bytes);
  if (!error && kept) {
    TW_TRY_VOID(tidy_caches(application, *kept));
  }
  return health::require_disk_reserve(config);
}

}  // namespace torchwatch::daemon
