#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::bisect {

/// Pure functions: which commits of a range must be built to know which of them differ.

/// A commit that may change the library, and the commits right after it that cannot: all of them
/// give the same library. Numbers are indices into the range. Only `commit` can be blamed.
struct CandidateClass {
  std::size_t commit = 0;
  std::vector<std::size_t> folded;
  bool operator==(const CandidateClass&) const = default;
};

struct FoldedRange {
  std::vector<std::size_t> unchanged;   ///< before the first class: like the good end
  std::vector<CandidateClass> classes;  ///< oldest first; the last one is the bad end
  bool operator==(const FoldedRange&) const = default;
};

/// The default of `[bisect] cannot_change`: docs, tests, Markdown, .github. Deliberately short: a
/// path that is not named may change the library.
const std::vector<std::string>& default_cannot_change();

/// Glob patterns over paths from the repository's root: `*` and `?` stay within a folder, `**` does
/// not; a pattern without `/` is compared with the file's name in any folder.
class PathPatterns {
 public:
  /// invalid, naming it, for an empty pattern, one beginning with `/`, or one with `[` or `\`.
  static Result<PathPatterns> create(std::vector<std::string> patterns);
  bool match(std::string_view path) const;

 private:
  explicit PathPatterns(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}
  std::vector<std::string> patterns_;
};

/// Folds the commits of which every changed path matches, or which change no path at all.
FoldedRange fold(const std::vector<Commit>& range, const PathPatterns& cannot_change);

/// What equal library hashes tell: between two builds with equal hashes nothing has changed.
/// `hashes` has one place a class, empty where nothing is built (yet); `good` is the good end's.
/// Each result is an event for CulpritSearch; applying one again changes nothing.
std::vector<SameLibrary> join_equal(const std::string& good,
                                    const std::vector<std::optional<std::string>>& hashes);

}  // namespace torchwatch::bisect
