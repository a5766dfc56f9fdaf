#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::bisect {

/// Counts the commits between two of a repository, each pair once: the count stays the same, and
/// lists ask for many. Thread-safe.
///
/// A pair of which the repository lacks a commit is remembered as well, until something was fetched
/// into the repository, packed there, or committed to a branch: until FETCH_HEAD, packed-refs, the
/// folder of packs or that of branches has another time than when the commit was looked for. A push
/// that moves only a branch with a slash in its name, and is too small for a pack, is not seen
/// before the next of these.
class CommitCounts {
 public:
  explicit CommitCounts(std::filesystem::path repository) : repository_(std::move(repository)) {}

  /// Nothing where the repository lacks one of them, and where they are of different branches.
  std::optional<std::int64_t> between(const std::string& from, const std::string& to);

 private:
  using Pair = std::pair<std::string, std::string>;
  using Count = std::optional<std::int64_t>;
  /// The times of what changes with every fetch.
  using Mark = std::array<std::filesystem::file_time_type, 4>;

  static Mark mark_of(const std::filesystem::path& folder);
  std::optional<Count> known(const Pair&);
  void keep(const Pair&, const Result<Count>&, const std::filesystem::path& folder, const Mark&);

  const std::filesystem::path repository_;
  std::mutex mutex_;
  std::map<Pair, Count> counted_;
  std::set<Pair> missing_;        ///< as of `mark_`
  std::filesystem::path folder_;  ///< of what was looked through for them
  Mark mark_ = {};
};

}  // namespace torchwatch::bisect
