#include <array>

#include "repository.hpp"
#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::bisect {
namespace {

std::string conflicting_files(git_index* index) {
  int code = 0;
  const auto conflicts = git_make<ConflictsHandle>(code, [&](git_index_conflict_iterator** out) {
    return git_index_conflict_iterator_new(out, index);
  });
  if (!conflicts) return "unknown files";
  std::string files;
  std::array<const git_index_entry*, 3> sides{};
  while (git_index_conflict_next(sides.data(), &sides[1], &sides[2], conflicts.get()) == 0) {
    for (const auto* side : sides) {
      if (side == nullptr) continue;
      files += (files.empty() ? "" : ", ") + text_of(side->path);
      break;
    }
  }
  return files;
}

/// The tree that is left when `commit` is undone in `base`.
Result<git_oid> undo(git_repository* repository, const CommitHandle& commit,
                     const CommitHandle& base) {
  const std::string what = "revert of " + describe(commit) + " on top of " + describe(base);
  const unsigned mainline = git_commit_parentcount(commit.get()) > 1 ? 1 : 0;
  int code = 0;
  const auto index = git_make<IndexHandle>(code, [&](git_index** out) {
    return git_revert_commit(out, repository, commit.get(), base.get(), mainline, nullptr);
  });
  if (!index) return fail(git_failure(what, code));
  if (git_index_has_conflicts(index.get()) != 0) {
    return fail(ErrorCode::conflict,
                what + " does not apply: later commits changed " + conflicting_files(index.get()));
  }
  git_oid tree;
  code = git_index_write_tree_to(&tree, index.get(), repository);
  if (code != 0) return fail(git_failure(what, code));
  if (git_oid_equal(&tree, git_commit_tree_id(base.get())) != 0) {
    return fail(ErrorCode::conflict, what + " changes nothing: it is undone there already");
  }
  return tree;
}

}  // namespace

Result<std::string> CommitHistory::create_revert(std::string_view commit,
                                                 std::string_view on_top_of) const {
  git_repository* repository = repository_->handle.get();
  TW_TRY(const auto undone, repository_->commit(commit));
  TW_TRY(const auto base, repository_->commit(on_top_of));
  TW_TRY_VOID(parent(commit));
  TW_TRY(const auto tree_id, undo(repository, undone, base));
  // The time is the base's, not now: the same revert is the same commit, whose build can be kept.
  const git_time_t when = git_commit_time(base.get());
  int code = 0;
  const auto author = git_make<SignatureHandle>(code, [&](git_signature** out) {
    return git_signature_new(out, "torchwatch", "torchwatch@localhost", when, 0);
  });
  const auto tree = git_make<TreeHandle>(
      code, [&](git_tree** out) { return git_tree_lookup(out, repository, &tree_id); });
  if (!author || !tree) return fail(git_failure("revert of " + describe(undone), code));
  const std::string message =
      "Revert " + describe(undone) + "\n\nMade by torchwatch to verify a culprit; on no branch.\n";
  std::array<const git_commit*, 1> parents{base.get()};
  git_oid made;
  code = git_commit_create(&made, repository, nullptr, author.get(), author.get(), "UTF-8",
                           message.c_str(), tree.get(), 1, parents.data());
  if (code != 0) return fail(git_failure("writing the revert of " + describe(undone), code));
  return to_hex(made);
}

}  // namespace torchwatch::bisect
