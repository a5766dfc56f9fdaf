#pragma once

#include <string>

#include "build_cache.hpp"
#include "recipe.hpp"
#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::builds {

/// Checks that the folder's disk has space left. Errors: unavailable.
Status check_disk(const std::filesystem::path& folder);

/// The work on one commit: calls of the recipe until there is an answer. The caller holds the
/// folder's lock.
class CommitBuildJob {
 public:
  CommitBuildJob(const CommitBuilder::Settings& settings, process::ProcessRunner& processes,
                 const CommitBuilder::Checkout& checkout, BuildCache& cache, BuildCache::Key key,
                 std::optional<BuildCache::Key> elsewhere, RecipePlace place)
      : settings_(settings),
        processes_(processes),
        checkout_(checkout),
        cache_(cache),
        key_(std::move(key)),
        elsewhere_(std::move(elsewhere)),
        place_(place) {}

  /// `base`: empty or a tree's folder. Errors: as of CommitBuilder::build.
  Result<CommitBuild> answer(const std::filesystem::path& base, const std::stop_token& stop);

 private:
  using TryEnd = std::variant<Tree, Unbuildable, Fault>;
  using RunEnd = std::variant<TryEnd, LostWithMachine>;

  /// The build that somebody else has made; nothing, with the reason in the log, without one.
  Result<std::optional<Tree>> from_artifacts(const std::stop_token& stop);
  Result<CommitBuild> try_twice(const std::filesystem::path& base, const std::stop_token& stop);
  Result<CommitBuild> keep(const Unbuildable& unbuildable);
  Result<TryEnd> try_once(const std::filesystem::path& base, const std::stop_token& stop);
  /// Calls the recipe; `losses`: how often it was lost before.
  Result<RunEnd> run_once(const std::filesystem::path& base, int losses,
                          const std::stop_token& stop);
  Result<TryEnd> try_elsewhere(const std::stop_token& stop);
  Result<TryEnd> end_of(const RecipeRun& run, platform::PartialFolder& prefix);
  /// Inspects the tree before it becomes visible and again in its final place: the change of name
  /// may have broken links into its own folder.
  Result<TryEnd> publish(platform::PartialFolder& prefix, const BuildCache::Key& key);
  std::string source_name() const;
  RecipeCall call_for(const std::filesystem::path& source, const std::filesystem::path& prefix,
                      const std::filesystem::path& base) const;

  const CommitBuilder::Settings& settings_;
  process::ProcessRunner& processes_;
  const CommitBuilder::Checkout& checkout_;
  BuildCache& cache_;
  BuildCache::Key key_;
  std::optional<BuildCache::Key> elsewhere_;  ///< of a build that somebody else has made
  RecipePlace place_;
  std::string log_;
};

}  // namespace torchwatch::builds
