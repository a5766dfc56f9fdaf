#include "torchwatch/caches/caches.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/caches/build_files.hpp"
#include "torchwatch/health/problem.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::caches {
namespace {

namespace fs = std::filesystem;

platform::FileBytes bytes_in(const fs::path& folder) {
  platform::FileBytes bytes;
  for (const auto& entry : platform::list_tree(folder).entries) bytes.add(entry);
  return bytes;
}

Sizes sizes_of(const fs::path& cache) {
  return {.commits = bytes_in(cache / "commits").sum(),
          .releases = bytes_in(cache / "releases").sum(),
          .kits = bytes_in(cache / "kits").sum(),
          .packages = bytes_in(cache / "packages").sum()};
}

/// Something in the cache that goes as a whole.
struct Entry {
  fs::path path;
  fs::file_time_type last_used;
  platform::FileBytes bytes = {};
  bool may_go = true;
};

/// What lies in a folder of the cache; files beside the folders only count.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  for (const auto& each : platform::list_folder(folder).entries) {
    std::error_code gone;
    const bool is_folder = each.is_directory(gone);
    Entry entry{.path = each.path(), .last_used = builds::last_use_of(each.path())};
    if (is_folder) entry.bytes = bytes_in(each.path());
    entry.bytes.add(each);
    entry.may_go = is_folder && each.path().filename() != "known";
    entries.push_back(std::move(entry));
  }
  return entries;
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
  TW_TRY(const auto incidents, storage::IncidentStore(database).unclosed());
  for (const auto& incident : incidents) {
    TW_TRY(const auto row, comparisons.get(incident.comparison));
    need(row);
  }
  return needed;
}

/// Releases with what their trees say: which was used when, which must stay.
Result<std::vector<Entry>> releases_of(const Parts& parts) {
  TW_TRY(const auto needed, needed_builds(parts.database, parts.config.channel.keep));
  TW_TRY(auto rows, storage::BuildStore(parts.database).list());
  std::erase_if(rows, [](const storage::BuildRow& row) {
    return row.folder.empty() || row.origin == storage::BuildOrigin::commit;
  });
  for (auto& row : rows) row.folder = platform::without_links(row.folder).string();
  auto entries = entries_of(parts.config.build.cache / "releases");
  for (auto& entry : entries) {
    const auto folder = platform::without_links(entry.path);
    for (const auto& row : rows) {
      if (!platform::lies_in(row.folder, folder)) continue;
      const auto used = builds::noted_use_of(row.folder);
      if (used) entry.last_used = std::max(entry.last_used, *used);
      if (needed.contains(row.id) || is_pinned(row)) entry.may_go = false;
    }
  }
  return entries;
}

/// Releases, kits and packages, the least recently used first. Where the releases that stay have
/// more than that, kits and packages stay as well: they are small, take long to make, and without
/// them the cache would be too large as well.
Result<std::vector<Entry>> others_of(const Parts& parts, std::int64_t bytes_max) {
  TW_TRY(auto entries, releases_of(parts));
  platform::FileBytes staying;
  for (const auto& entry : entries) {
    if (!entry.may_go) staying.add(entry.bytes);
  }
  const bool is_in_vain = staying.sum() > bytes_max;
  for (const char* others : {"kits", "packages"}) {
    for (auto& entry : entries_of(parts.config.build.cache / others)) {
      entry.may_go = entry.may_go && !is_in_vain;
      entries.push_back(std::move(entry));
    }
  }
  std::ranges::sort(entries, {}, &Entry::last_used);
  return entries;
}

/// The builds of commits in the cache, of which `builds` knows which may go, also where none are
/// made any more.
class Commits {
 public:
  explicit Commits(const Parts& parts)
      : builder_(parts.commits),
        folder_(parts.config.build.cache / "commits"),
        bytes_(bytes_in(folder_).sum()) {
    for (const auto& entry : platform::list_folder(folder_).entries) {
      used_.push_back(builds::last_use_of(entry.path()));
    }
    std::ranges::sort(used_);
  }

  std::int64_t bytes() const { return bytes_; }

  /// Removes what was last used before that, until at most `bytes_max` remain. Looks through the
  /// folder only if there is something older that it has not tried. Errors: as evict.
  Status shrink(std::int64_t bytes_max, fs::file_time_type used_before) {
    const auto tried = std::ranges::lower_bound(used_, used_before);
    if (bytes_ <= bytes_max || tried == used_.begin()) return {};
    used_.erase(used_.begin(), tried);
    const auto kept = std::max<std::int64_t>(bytes_max, 0);
    auto done = builder_ != nullptr ? builder_->evict(kept, used_before)
                                    : builds::evict_commits(folder_, kept, used_before);
    bytes_ = bytes_in(folder_).sum();
    return done;
  }

 private:
  builds::CommitBuilder* builder_;  ///< null: nothing uses a build of a commit
  fs::path folder_;
  std::int64_t bytes_;
  std::vector<fs::file_time_type> used_;  ///< of what has not been tried, the oldest first
};

/// Added up anew each time: a release gives little back while another one shares its libraries.
std::int64_t bytes_of(const std::vector<Entry>& entries) {
  platform::FileBytes bytes;
  for (const auto& entry : entries) bytes.add(entry.bytes);
  return bytes.sum();
}

/// Looks once through what is not of a commit, however much is removed.
Status shrink(const Parts& parts, std::int64_t bytes_max) {
  TW_TRY(auto others, others_of(parts, bytes_max));
  Commits commits(parts);
  Status removed_all;
  // What cannot be removed keeps nothing else in the cache.
  const auto note = [&](const Status& done) {
    if (!done && removed_all) removed_all = done;
  };
  for (auto& other : others) {
    note(commits.shrink(bytes_max - bytes_of(others), other.last_used));
    if (commits.bytes() + bytes_of(others) <= bytes_max) return removed_all;
    if (!other.may_go) continue;
    const auto removed = remove_folder(other.path);
    note(removed);
    if (removed) other.bytes = {};
  }
  note(commits.shrink(bytes_max - bytes_of(others), fs::file_time_type::max()));
  return removed_all;
}

/// Whether a migration named the copy so: "torchwatch.sqlite.v28.backup".
bool is_copy_of(const fs::path& database, const std::string& name) {
  const auto begins = database.filename().string() + ".v";
  constexpr std::string_view kEnds = ".backup";
  if (!name.starts_with(begins) || !name.ends_with(kEnds)) return false;
  if (name.size() <= begins.size() + kEnds.size()) return false;
  const auto version =
      std::string_view(name).substr(begins.size(), name.size() - begins.size() - kEnds.size());
  return version.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Copies that were made before migrations, but the newest.
std::vector<fs::path> remove_old_copies(const fs::path& database) {
  std::vector<std::pair<fs::file_time_type, fs::path>> copies;
  for (const auto& entry : platform::list_folder(database.parent_path()).entries) {
    if (!is_copy_of(database, entry.path().filename().string())) continue;
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

Result<Tidied> tidy(const Parts& parts, std::int64_t bytes_max) {
  const auto& cache = parts.config.build.cache;
  Tidied tidied{.before = sizes_of(cache), .after = {}, .copies = {}};
  if (tidied.before.sum() > bytes_max) TW_TRY_VOID(shrink(parts, bytes_max));
  tidied.after = sizes_of(cache);
  tidied.copies = remove_old_copies(parts.config.storage.path);
  return tidied;
}

std::optional<std::int64_t> bytes_to_keep(std::int64_t cached, std::int64_t free_bytes,
                                          std::int64_t reserve) {
  const auto missing = reserve - free_bytes;
  if (missing <= 0 || missing > cached) return std::nullopt;
  return cached - missing;
}

Status reserve_disk(const Parts& parts) {
  const auto& config = parts.config;
  if (health::require_disk_reserve(config)) return {};
  std::error_code error;
  const auto free_bytes = fs::space(config.build.cache, error).available;
  const auto kept =
      bytes_to_keep(sizes_of(config.build.cache).sum(), static_cast<std::int64_t>(free_bytes),
                    config.build.disk_reserve_bytes);
  if (!error && kept) {
    TW_TRY_VOID(tidy(parts, *kept));
  }
  return health::require_disk_reserve(config);
}

}  // namespace torchwatch::caches
