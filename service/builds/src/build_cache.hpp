#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/builds/commit_builder.hpp"

namespace torchwatch::builds {

/// The folder in which builds of commits lie:
///   <commit>-<recipe>/                  a tree, with the file last-used in it
///   <commit>-<recipe>.unbuildable.json  the answer that it cannot be built
///   <commit>.log                        what the recipe printed
/// Thread-safe. Only the holder of the folder's lock may change it.
class BuildCache {
 public:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `recipe_hash`: of the recipe and the settings that it reads, or of where somebody else's build
  /// came from; another one makes another build.
  struct Key {
    std::string commit;
    std::string recipe_hash;
  };

  std::filesystem::path tree_folder(const Key&) const;

  /// Returns a whole build (with a lease) or the answer that it cannot be built; nothing for a
  /// damaged build and for a fault older than `fault_age_max`.
  Result<std::optional<CommitBuild>> find(const Key&, std::chrono::seconds fault_age_max);

  /// Marks a tree as one of the cache's, used now. To be called before the tree is published.
  Status mark_used(const std::filesystem::path& tree);

  /// Reads the published tree, notes that it is used and leases it.
  Result<Tree> take(const Key&);

  Status keep_unbuildable(const Key&, const Unbuildable&);
  Status keep_log(const Key&, const std::string& text);

  /// Removes a published tree, in one step as others see it.
  Status remove(const Key&) const;

  /// Removes what a killed process left half-done.
  Status sweep();

  /// Removes what was used longest ago until at most `bytes_max` remain; never a leased build, one
  /// that another build links into, or one that was used since `used_before`, so more can remain.
  Status evict(std::int64_t bytes_max, std::filesystem::file_time_type used_before =
                                           std::filesystem::file_time_type::max());

 private:
  bool is_leased(const std::string& name) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const void>> leases_;  ///< by the tree's folder name
};

}  // namespace torchwatch::builds
