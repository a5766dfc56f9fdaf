#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::bisect {

/// A commit as it is printed and searched. Times are seconds since 1970 UTC. Never order by them:
/// author times go backwards and committer times tie within a stack; `range` orders by parents.
struct Commit {
  std::string sha;  ///< 40 hex digits
  std::string subject;
  std::string author_name;
  std::string author_email;
  std::int64_t author_time = 0;
  std::int64_t committer_time = 0;
  std::vector<std::string> parents;        ///< shas, first parent first
  std::vector<std::string> changed_paths;  ///< against the first parent, sorted; both of a rename
};

/// The git repository whose commits are searched. Only reads, except for the object that
/// `create_revert` adds; no branch, index, HEAD or worktree of the repository is ever touched.
///
/// One handle a thread: open the repository again in another thread (opening costs microseconds).
/// A `sha` argument may be any revision that `resolve` understands.
class CommitHistory {
 public:
  /// Opens a repository, bare or not. Errors: not_found, when the folder holds no repository.
  static Result<CommitHistory> open(const std::filesystem::path& repository);

  CommitHistory(CommitHistory&&) noexcept;
  CommitHistory& operator=(CommitHistory&&) noexcept;
  ~CommitHistory();

  /// The folder in which git keeps the repository's objects and references.
  std::filesystem::path folder() const;

  /// The sha of any revision (name, short sha, HEAD~2, ...). not_found, naming it, if it is
  /// unknown; invalid if it is ambiguous, too short or cannot be read as a revision.
  Result<std::string> resolve(std::string_view revision) const;

  /// The trunk commit a build was made from. A commit of the nightly branch names it in its
  /// subject, "<date> nightly release (<40 hex>)"; any other commit is one already.
  Result<std::string> trunk_commit(std::string_view revision) const;

  /// The same commit's sha, which this repository may lack. Errors: not_found: it lacks `revision`.
  Result<std::string> named_trunk_commit(std::string_view revision) const;

  Result<Commit> commit(std::string_view sha) const;

  /// The first parent. invalid for a root commit.
  Result<std::string> parent(std::string_view sha) const;

  /// The newest common ancestor of two commits. Errors: not_found, where they have none.
  Result<std::string> merge_base(std::string_view one, std::string_view other) const;

  /// The candidates between two commits: along first parents, oldest first, without `good`, with
  /// `bad`. invalid, with what to do, if both are the same, the order is reversed, or `good` is not
  /// on bad's first-parent line.
  Result<std::vector<Commit>> range(std::string_view good, std::string_view bad) const;

  /// How many commits `range` has, without reading their files; 0 for equal ends. Nothing, if
  /// `good` is not among the `most` commits before `bad` on its first-parent line.
  Result<std::optional<std::int64_t>> count(std::string_view good, std::string_view bad,
                                            std::int64_t most) const;

  /// The commit's place on a branch: the number of its first-parent ancestors, which stays the same
  /// while the branch grows. Orders builds. not_found if it is not on the branch's first-parent
  /// line. Reads each commit of the branch once in the object's life (about 0.1 s for 50,000).
  Result<std::int64_t> position(std::string_view sha, std::string_view branch) const;

  /// How many commits `position` has read so far.
  std::int64_t commits_read() const;

  /// Writes the commit's tree into `folder`, which must not exist or be empty; a killed or failed
  /// call leaves part of it there. Submodules stay empty folders.
  Status checkout(std::string_view sha, const std::filesystem::path& folder) const;

  /// The sha of a commit (on no branch) with `commit` undone on top of `on_top_of`. The same
  /// arguments give the same sha. conflict, naming the files, if it does not apply, or if it is
  /// undone already; invalid for a root commit.
  Result<std::string> create_revert(std::string_view commit, std::string_view on_top_of) const;

 private:
  struct Repository;
  explicit CommitHistory(std::unique_ptr<Repository>);
  std::unique_ptr<Repository> repository_;
};

/// `CommitHistory::checkout` with a handle of its own, for any thread. Errors: of `open` too.
Status check_out(const std::filesystem::path& repository, std::string_view sha,
                 const std::filesystem::path& folder);

}  // namespace torchwatch::bisect
