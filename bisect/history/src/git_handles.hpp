#pragma once

#include <git2.h>

#include <memory>
#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::bisect {

/// Frees a libgit2 object with the function that belongs to its type.
template <auto Free>
struct GitDeleter {
  template <typename T>
  void operator()(T* handle) const noexcept {
    Free(handle);
  }
};

using RepositoryHandle = std::unique_ptr<git_repository, GitDeleter<git_repository_free>>;
using ObjectHandle = std::unique_ptr<git_object, GitDeleter<git_object_free>>;
using CommitHandle = std::unique_ptr<git_commit, GitDeleter<git_commit_free>>;
using TreeHandle = std::unique_ptr<git_tree, GitDeleter<git_tree_free>>;
using DiffHandle = std::unique_ptr<git_diff, GitDeleter<git_diff_free>>;
using IndexHandle = std::unique_ptr<git_index, GitDeleter<git_index_free>>;
using ConflictsHandle =
    std::unique_ptr<git_index_conflict_iterator, GitDeleter<git_index_conflict_iterator_free>>;
using SignatureHandle = std::unique_ptr<git_signature, GitDeleter<git_signature_free>>;

/// Starts libgit2, which must be done before its first use; thread-safe. It is shut down at the end
/// of the process and not with each repository: a shutdown while other threads live loses what
/// libgit2 keeps for them.
void start_libgit2();

/// Calls `call(T**)` and returns what it made as a handle; null if it failed (then the code is in
/// `code` and the text in libgit2's last error of this thread).
template <typename Handle, typename Call>
Handle git_make(int& code, Call&& call) {
  typename Handle::pointer raw = nullptr;
  code = call(&raw);
  return Handle(code == 0 ? raw : nullptr);
}

/// The error of a failed libgit2 call: `what` was tried, libgit2's last message is appended.
Error git_failure(std::string_view what, int code);

std::string to_hex(const git_oid&);

}  // namespace torchwatch::bisect
