#include "build_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "torchwatch/builds/kept_log.hpp"
#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kAnswerBytesMax = 64U << 10U;
constexpr std::size_t kRecipeDigits = 12;
constexpr const char* kUnbuildableSuffix = ".unbuildable.json";
constexpr const char* kLogSuffix = ".log";
constexpr const char* kPartialSuffix = ".partial";

std::string name_of(const BuildCache::Key& key) {
  return key.commit + "-" + key.recipe_hash.substr(0, kRecipeDigits);
}

tl::unexpected<Error> cannot(const std::string& doing, const fs::path& path,
                             const std::string& why) {
  return fail(ErrorCode::unavailable, "cannot " + doing + " " + path.string() + ": " + why);
}

/// Sets a file's time to the kernel's now; makes a missing file.
Status touch(const fs::path& path) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open() || futimens(file.get(), nullptr) != 0) {
    return cannot("note the use in", path, strerror(errno));
  }
  return {};
}

/// Renames the tree before it removes it, so that nobody sees it half removed under its name.
Status remove_tree(const fs::path& tree) {
  fs::path removed = tree;
  removed += kRemovedSuffix;
  std::error_code error;
  fs::remove_all(removed, error);
  fs::rename(tree, removed, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (!error) fs::remove_all(removed, error);
  if (error) return cannot("remove", tree, error.message());
  return {};
}

struct Answer {
  Unbuildable unbuildable;
  platform::WallMillis made_at = 0;
};

/// Returns nothing for an answer that cannot be read: then the commit is built again.
std::optional<Answer> parse_answer(const std::string& text) {
  const json answer = json::parse(text, nullptr, false);
  if (!answer.is_object()) return {};
  const auto reason = answer.find("reason");
  const auto fault = answer.find("fault");
  const auto made_at = answer.find("made_at_ms");
  if (reason == answer.end() || !reason->is_string()) return {};
  if (fault == answer.end() || !fault->is_boolean()) return {};
  if (made_at == answer.end() || !made_at->is_number_integer()) return {};
  return Answer{.unbuildable = {.reason = *reason, .fault = *fault}, .made_at = *made_at};
}

struct TreeContent {
  platform::FileBytes bytes;    ///< of its own files, not of what is behind links
  std::set<std::string> links;  ///< names of folders in the cache that its links lead into
};

constexpr int kHopsMax = 40;  // as the kernel's own limit

/// Returns the first part of `path` below `cache`, if it lies there.
std::optional<std::string> name_in(const fs::path& cache, const fs::path& path) {
  const fs::path relative = path.lexically_relative(cache);
  if (relative.empty() || *relative.begin() == ".." || *relative.begin() == ".") return {};
  return relative.begin()->string();
}

/// Returns where a link leads in one step; the folders before the name are freed of links.
fs::path step_from(const fs::path& link, std::error_code& error) {
  fs::path target = fs::read_symlink(link, error);
  if (error) return {};
  if (target.is_relative()) target = link.parent_path() / target;
  const fs::path folder = fs::weakly_canonical(target.parent_path(), error);
  return (error ? target.parent_path().lexically_normal() : folder) / target.filename();
}

void add_hops(fs::path link, const fs::path& cache, std::set<std::string>& names) {
  for (int hop = 0; hop < kHopsMax; ++hop) {
    std::error_code error;
    const fs::path target = step_from(link, error);
    if (target.empty()) return;
    if (const auto name = name_in(cache, target)) names.insert(*name);
    if (!fs::is_symlink(target, error)) return;
    link = target;
  }
}

/// Looks through `tree`, a folder in `cache`. A link that leads to another link leads into the
/// folders of both.
Result<TreeContent> content_of(const fs::path& tree, const fs::path& cache) {
  TreeContent content;
  std::error_code ignored;
  const fs::path real_cache = fs::weakly_canonical(cache, ignored);
  const auto listing = platform::list_tree(tree);
  for (const auto& entry : listing.entries) {
    if (entry.is_symlink(ignored)) {
      add_hops(entry.path(), real_cache, content.links);
    } else {
      content.bytes.add(entry);
    }
  }
  if (listing.error) {
    return fail(ErrorCode::unavailable,
                "cannot list " + tree.string() + ": " + listing.error.message());
  }
  content.links.erase(tree.filename().string());
  return content;
}

/// Something that can be evicted: a tree or a log.
struct Item {
  fs::path path;
  TreeContent content;
  fs::file_time_type last_used;
};

bool is_tree(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / kLastUsed, ignored);
}

bool is_pinned(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path / kPinned, ignored);
}

Result<std::vector<Item>> list_items(const fs::path& cache) {
  std::vector<Item> items;
  const auto listing = platform::list_folder(cache);
  for (const auto& entry : listing.entries) {
    std::error_code gone;
    Item item{.path = entry.path(), .content = {}, .last_used = {}};
    if (is_tree(item.path)) {
      auto content = content_of(item.path, cache);
      if (!content) continue;  // one that cannot be read keeps no other in the cache
      item.content = *std::move(content);
      item.last_used = fs::last_write_time(item.path / kLastUsed, gone);
    } else if (item.path.extension() == kLogSuffix) {
      item.content.bytes.add(entry);
      item.last_used = fs::last_write_time(item.path, gone);
    } else {
      continue;
    }
    if (!gone) items.push_back(std::move(item));
  }
  if (listing.error) return cannot("list", cache, listing.error.message());
  std::ranges::sort(items, {}, &Item::last_used);
  return items;
}

std::int64_t bytes_of(const std::vector<Item>& items) {
  platform::FileBytes bytes;
  for (const auto& item : items) bytes.add(item.content.bytes);
  return bytes.sum();
}

bool is_linked_into(const std::vector<Item>& items, const std::string& name) {
  return std::ranges::any_of(items,
                             [&](const Item& item) { return item.content.links.contains(name); });
}

}  // namespace

fs::path BuildCache::tree_folder(const Key& key) const {
  return folder_ / name_of(key);
}

Result<std::optional<CommitBuild>> BuildCache::find(const Key& key,
                                                    std::chrono::seconds fault_age_max) {
  if (is_tree(tree_folder(key))) {
    auto tree = take(key);
    if (tree) return std::optional<CommitBuild>(std::move(*tree));
    if (tree.error().code == ErrorCode::unavailable) return fail(tree.error());
    return std::optional<CommitBuild>();  // damaged: it is built again
  }
  const auto text =
      platform::read_file(folder_ / (name_of(key) + kUnbuildableSuffix), kAnswerBytesMax);
  const auto answer = text ? parse_answer(*text) : std::nullopt;
  if (!answer) return std::optional<CommitBuild>();
  const auto age = std::chrono::milliseconds(platform::SystemClock().wall_now() - answer->made_at);
  // An answer from the future was stored by a clock that was ahead.
  const bool is_young = age.count() >= 0 && age < fault_age_max;
  if (answer->unbuildable.fault && !is_young) return std::optional<CommitBuild>();
  return std::optional<CommitBuild>(answer->unbuildable);
}

Status BuildCache::mark_used(const fs::path& tree) {
  return touch(tree / kLastUsed);
}

Result<Tree> BuildCache::take(const Key& key) {
  TW_TRY(Tree tree, inspect(tree_folder(key)));
  TW_TRY_VOID(mark_used(tree.folder));
  const std::scoped_lock lock(mutex_);
  auto& lease = leases_[name_of(key)];
  tree.lease = lease.lock();
  if (!tree.lease) {
    tree.lease = std::make_shared<char>();
    lease = tree.lease;
  }
  return tree;
}

Status BuildCache::keep_unbuildable(const Key& key, const Unbuildable& unbuildable) {
  const json answer{{"schema", 1},
                    {"commit", key.commit},
                    {"reason", printable(unbuildable.reason)},
                    {"fault", unbuildable.fault},
                    {"made_at_ms", platform::SystemClock().wall_now()}};
  return platform::publish_file(folder_ / (name_of(key) + kUnbuildableSuffix),
                                answer.dump(2) + "\n");
}

Status BuildCache::keep_log(const Key& key, const std::string& text) {
  return platform::publish_file(folder_ / (key.commit + kLogSuffix), text);
}

std::string kept_log(const fs::path& folder, const std::string& commit) {
  constexpr std::size_t kBytesMax = 64U << 20U;  ///< more than any limit on what a recipe prints
  if (!is_hex(commit, 1, 64)) return "";
  return platform::read_file(folder / (commit + kLogSuffix), kBytesMax).value_or("");
}

Status BuildCache::remove(const Key& key) const {
  return remove_tree(tree_folder(key));
}

Status BuildCache::sweep() {
  const auto listing = platform::list_folder(folder_);
  Status swept;
  for (const auto& entry : listing.entries) {
    const auto extension = entry.path().extension();
    if (extension != kPartialSuffix && extension != kRemovedSuffix) continue;
    std::error_code failed;
    fs::remove_all(entry.path(), failed);
    if (failed) swept = cannot("remove what is left in", entry.path(), failed.message());
  }
  if (listing.error) return cannot("list", folder_, listing.error.message());
  return swept;
}

bool BuildCache::is_leased(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto lease = leases_.find(name);
  return lease != leases_.end() && !lease->second.expired();
}

Status BuildCache::evict(std::int64_t bytes_max, fs::file_time_type used_before) {
  TW_TRY(auto items, list_items(folder_));
  Status evicted;
  std::int64_t stuck = 0;
  while (stuck + bytes_of(items) > bytes_max) {
    const auto oldest = std::ranges::find_if(items, [&](const Item& item) {
      const std::string name = item.path.filename().string();
      return item.last_used < used_before && !is_leased(name) && !is_linked_into(items, name) &&
             !is_pinned(item.path);
    });
    if (oldest == items.end()) break;
    // One that cannot be removed keeps no other in the cache.
    const auto removed = remove_tree(oldest->path);
    if (!removed) {
      evicted = removed;
      stuck += oldest->content.bytes.sum();
    }
    items.erase(oldest);
  }
  return evicted;
}

}  // namespace torchwatch::builds
