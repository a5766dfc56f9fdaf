#pragma once

#include <map>

#include "first_parent_line.hpp"
#include "git_handles.hpp"
#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::bisect {

/// What the files behind CommitHistory share: the open repository and look-ups in it.
struct CommitHistory::Repository {
  RepositoryHandle handle;
  std::string path;                              ///< as the caller named it, for messages
  std::map<std::string, FirstParentLine> lines;  ///< by the branch's name
  std::int64_t commits_read = 0;                 ///< for the lines

  Result<CommitHandle> commit(std::string_view revision) const;
  /// The commit's first parent; null for a root commit.
  Result<CommitHandle> first_parent(const CommitHandle&) const;
  /// Brings the branch's line up to its tip.
  Status follow(const std::string& branch);
  Result<TreeHandle> tree(const CommitHandle&) const;
  /// What is printed of a commit, changed paths included.
  Result<Commit> describe_fully(const CommitHandle&) const;
};

std::string sha_of(const CommitHandle&);
/// What git holds as text: a subject, an author, a path. A commit may have any bytes there, and all
/// of them are stored, printed and put into JSON; nothing for null.
std::string text_of(const char* written);
/// "1234567890ab (the commit's subject)", for messages.
std::string describe(const CommitHandle&);

}  // namespace torchwatch::bisect
