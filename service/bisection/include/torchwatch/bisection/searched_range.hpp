#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/bisect/candidate_commits.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// The commits between the ends of a search, and which of them can change the library.
struct Range {
  std::vector<bisect::Commit> commits;  ///< oldest first, with the bad end
  bisect::FoldedRange folded;
};

/// Reads the paths that cannot change the library. Errors: invalid.
Result<bisect::PathPatterns> cannot_change(const BisectionSpec&);

/// Reads the range of a search from git. Errors: invalid and not_found (it cannot be searched).
Result<Range> read_range(const bisect::CommitHistory&, const BisectionSpec&);

/// Lists the ranges of bisections for people. Each is read once, as it stays the same, which takes
/// some milliseconds a commit. Thread-safe.
class SearchedRanges {
 public:
  explicit SearchedRanges(std::filesystem::path repository) : repository_(std::move(repository)) {}

  /// Returns what a bisection searches. Without commits where what was asked for is damaged, where
  /// the repository lacks them, and where there are more than 1,000.
  report::SearchedRange of(const storage::BisectionRow&);

 private:
  using Commits = std::vector<report::RangeCommit>;
  Result<Commits> commits_of(const BisectionSpec&);

  const std::filesystem::path repository_;
  std::mutex mutex_;
  std::map<std::string, Commits> known_;  ///< by the ends and what cannot change the library
};

}  // namespace torchwatch::bisection
