#include "repository.hpp"

#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::bisect {

Result<CommitHandle> CommitHistory::Repository::commit(std::string_view revision) const {
  const std::string spec(revision);
  int code = 0;
  const auto object = git_make<ObjectHandle>(
      code, [&](git_object** out) { return git_revparse_single(out, handle.get(), spec.c_str()); });
  if (!object && code == GIT_EAMBIGUOUS) {
    return fail(ErrorCode::invalid, "unknown commit \"" + spec + "\": name 4 hex digits or more");
  }
  if (!object && (code == GIT_ENOTFOUND || code == GIT_EINVALIDSPEC)) {
    return fail(ErrorCode::not_found,
                "[source] repository " + path + " has no commit \"" + spec + "\"",
                "fetch it there, or check the name");
  }
  if (!object) {
    return fail(git_failure("repository " + path + ": no commit \"" + spec + "\"", code));
  }
  auto peeled = git_make<ObjectHandle>(code, [&](git_object** out) {
    return git_object_peel(out, object.get(), GIT_OBJECT_COMMIT);
  });
  if (!peeled) {
    return fail(ErrorCode::not_found, "repository " + path + ": \"" + spec + "\" is not a commit");
  }
  return CommitHandle(reinterpret_cast<git_commit*>(peeled.release()));
}

Result<CommitHandle> CommitHistory::Repository::first_parent(const CommitHandle& commit) const {
  if (git_commit_parentcount(commit.get()) == 0) return CommitHandle();
  int code = 0;
  auto parent = git_make<CommitHandle>(
      code, [&](git_commit** out) { return git_commit_parent(out, commit.get(), 0); });
  if (!parent) {
    return fail(git_failure("repository " + path + ": no first parent of " + sha_of(commit) +
                                " (is the clone shallow? fetch its history)",
                            code));
  }
  return parent;
}

Status CommitHistory::Repository::follow(const std::string& branch) {
  TW_TRY(const auto tip, commit(branch));
  const auto parent_of = [this](const git_oid& oid) -> Result<std::optional<git_oid>> {
    int code = 0;
    const auto child = git_make<CommitHandle>(
        code, [&](git_commit** out) { return git_commit_lookup(out, handle.get(), &oid); });
    if (!child) {
      return fail(git_failure("repository " + path + ": no commit " + to_hex(oid) +
                                  " (is the clone shallow? fetch its history)",
                              code));
    }
    if (git_commit_parentcount(child.get()) == 0) return std::nullopt;
    return *git_commit_parent_id(child.get(), 0);
  };
  TW_TRY(const auto read, lines[branch].follow(*git_commit_id(tip.get()), parent_of));
  commits_read += read;
  return {};
}

Result<TreeHandle> CommitHistory::Repository::tree(const CommitHandle& commit) const {
  int code = 0;
  auto tree = git_make<TreeHandle>(
      code, [&](git_tree** out) { return git_commit_tree(out, commit.get()); });
  if (!tree) {
    return fail(git_failure("repository " + path + ": no files of commit " + sha_of(commit) +
                                " (a clone with --filter lacks them; make a full one)",
                            code));
  }
  return tree;
}

std::string sha_of(const CommitHandle& commit) {
  return to_hex(*git_commit_id(commit.get()));
}

std::string text_of(const char* written) {
  return written != nullptr ? printable(written) : std::string();
}

std::string describe(const CommitHandle& commit) {
  return short_sha(sha_of(commit)) + " (" + text_of(git_commit_summary(commit.get())) + ")";
}

}  // namespace torchwatch::bisect
