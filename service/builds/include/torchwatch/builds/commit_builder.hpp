#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/builds/tree.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::builds {

class BuildCache;
struct RecipePlace;

struct Unbuildable {
  std::string reason;  ///< "recipe exited 125", "faulted twice: timed out after 4h"
  bool fault = false;  ///< by two faults rather than by 125; three in a row end a bisection
};

using CommitBuild = std::variant<Tree, Unbuildable>;

/// Who may have made a build of a commit.
enum class Maker { anybody, recipe };

/// Makes builds of single commits by the user's recipe (docs/operating.md) and keeps them,
/// up to a size: the ones used longest ago go first, never one that is in use (a Tree returned by
/// `build` or `cached` lives) or that another build links into. Thread-safe; one call at a time.
class CommitBuilder {
 public:
  /// Builds of commits that somebody else has made.
  struct Artifacts {
    /// Makes the tree of a commit in an empty folder; called from several threads at once. Empty:
    /// nobody else builds commits.
    std::function<Status(const std::string& commit, const std::filesystem::path&, std::stop_token)>
        bring = {};
    // What a build is kept by:
    std::string address = {};  ///< where they lie
    bool for_cuda = false;     ///< with all libraries of CUDA that a wheel requires
    bool with_python = false;  ///< with what Python imports
  };

  /// A service elsewhere that makes builds in the recipe's place.
  struct Remote {
    /// Makes the tree of a commit in an empty folder; called from several threads at once. Errors:
    /// invalid (the commit cannot be built), not_found, corrupt and timed_out (a fault, tried once
    /// more), cancelled; anything else ends the call. Empty: the recipe builds.
    std::function<Status(const std::string& commit, const std::filesystem::path&, std::stop_token)>
        make = {};
    std::string identity = {};  ///< what decides on a build beside its commit
  };

  struct Settings {
    std::filesystem::path recipe;  ///< unused with `remote`
    std::filesystem::path folder;  ///< the cache
    std::int64_t size_limit_bytes = std::int64_t{40} << 30;
    std::chrono::seconds time_limit{4 * 3600};
    std::size_t output_limit_bytes = 8U << 20U;
    int jobs = 0;  ///< parallel jobs per build; 0: the cores, shared by builds made at once
    sandbox::Sandbox sandbox = {};
    /// What the recipe may write besides the checkout and the new build, and whether it may use
    /// the network.
    sandbox::Profile profile = {};
    std::vector<std::string> environment = {};  ///< further variables that the recipe sees
    Artifacts artifacts = {};                   ///< asked before the recipe
    CompilerCache compiler_cache = CompilerCache::shared;
    Remote remote = {};  ///< asked instead of the recipe
    /// How long "faulted twice" counts as an answer. Longer than a bisection with its
    /// resumptions; a later one may meet a healthier machine. An exit 125 is final.
    std::chrono::seconds fault_age_max{24 * 3600};
  };
  /// Writes the commit's tree into a new, empty folder; called from several threads at once.
  using Checkout = std::function<Status(const std::string& commit, const std::filesystem::path&)>;

  CommitBuilder(Settings, process::ProcessRunner&, Checkout);
  ~CommitBuilder();

  /// The build of `commit` (its full sha), from the cache or made now; an answer (also
  /// "unbuildable") is kept and found again by the commit, the recipe's content and its
  /// settings (see build_settings), or by where somebody else's build came from. `base`: the
  /// nearest build at hand. Errors: invalid (no sha), unavailable (disk full, recipe missing,
  /// another process builds in the same cache), cancelled, not_found (the commit).
  Result<CommitBuild> build(const std::string& commit, const std::optional<Tree>& base,
                            std::stop_token stop, Maker maker = Maker::anybody);

  /// The builds of several commits, each named once, in their order; those that are not at hand are
  /// made at once, each by a recipe of its own. Errors: as above, of the first commit that has one,
  /// after the others have ended; what was made is kept.
  Result<std::vector<CommitBuild>> build_at_once(const std::vector<std::string>& commits,
                                                 const std::optional<Tree>& base,
                                                 std::stop_token stop,
                                                 Maker maker = Maker::anybody);

  /// The build of `commit` if it lies in the cache (or is known to be unbuildable).
  Result<std::optional<CommitBuild>> cached(const std::string& commit,
                                            Maker maker = Maker::anybody) const;

  /// Removes what was used longest ago until at most `bytes_max` remain, as after each build; what
  /// is in use, or was used since `used_before`, stays. Errors: unavailable (also while another
  /// process builds in the folder).
  Status evict(std::int64_t bytes_max, std::filesystem::file_time_type used_before);

 private:
  struct Keys;
  Result<Keys> keys_of(const std::string& commit, Maker maker) const;
  Result<std::optional<CommitBuild>> make(const std::string& commit, Maker maker,
                                          const RecipePlace&, const std::optional<Tree>& base,
                                          const std::stop_token& stop);

  Settings settings_;
  process::ProcessRunner& processes_;
  Checkout checkout_;
  std::unique_ptr<BuildCache> cache_;
  std::mutex building_;
};

/// Does what CommitBuilder::evict does in a cache of builds for which there is no builder: no
/// recipe is configured any more. Errors: likewise.
Status evict_commits(const std::filesystem::path& folder, std::int64_t bytes_max,
                     std::filesystem::file_time_type used_before);

}  // namespace torchwatch::builds
