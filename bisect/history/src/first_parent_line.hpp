#pragma once

#include <git2.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::bisect {

/// The commits of one branch along first parents, kept so that each is read once: when the branch
/// has grown, only its new commits are read. 24 bytes a commit. Not thread-safe.
class FirstParentLine {
 public:
  /// Returns the first parent of a commit, or nothing for a root. Errors: it cannot be read.
  using ParentOf = std::function<Result<std::optional<git_oid>>(const git_oid&)>;

  /// Makes the line that of the branch with this tip. Returns how many commits were read.
  Result<std::int64_t> follow(const git_oid& tip, const ParentOf&);

  /// The number of first-parent ancestors of a commit of the line; nothing for another commit.
  std::optional<std::int64_t> position(const git_oid&) const;

 private:
  struct Place {
    git_oid commit;
    std::int32_t position = 0;
  };

  std::vector<Place> places_;  ///< sorted by commit
};

}  // namespace torchwatch::bisect
