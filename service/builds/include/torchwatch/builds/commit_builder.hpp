#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/doors/process.hpp"

namespace torchwatch::builds {

struct Unbuildable {
  std::string reason;  ///< "recipe exited 125", "faulted twice: timed out after 4h"
  bool fault = false;  ///< by two faults rather than by 125; three in a row end a search
};

using CommitBuild = std::variant<Tree, Unbuildable>;

/// Makes builds of single commits by the user's recipe (architecture.md section 4) and keeps them,
/// up to a size: the ones used longest ago go first, never one that is in use or that another
/// build links into.
class CommitBuilder {
 public:
  struct Settings {
    std::filesystem::path recipe;
    std::filesystem::path folder;  ///< the cache
    std::int64_t size_limit_bytes = std::int64_t{40} << 30;
    std::chrono::seconds time_limit{4 * 3600};
    std::size_t output_limit_bytes = 8U << 20U;
    int jobs = 0;
  };
  /// Writes the commit's tree into a new, empty folder.
  using Checkout = std::function<Status(const std::string& commit, const std::filesystem::path&)>;

  CommitBuilder(Settings, doors::ProcessRunner&, Checkout);

  /// The build of `commit`, from the cache or made now; an answer (also "unbuildable") is kept and
  /// found again by (commit, recipe's content). `base`: the nearest build at hand. Errors:
  /// unavailable (disk full, recipe missing), cancelled, not_found (the commit).
  Result<CommitBuild> build(const std::string& commit, const std::optional<Tree>& base,
                            std::stop_token stop);

  /// The build of `commit` if it lies in the cache (or is known to be unbuildable).
  Result<std::optional<CommitBuild>> cached(const std::string& commit) const;

 private:
  Settings settings_;
  doors::ProcessRunner& processes_;
  Checkout checkout_;
};

}  // namespace torchwatch::builds
