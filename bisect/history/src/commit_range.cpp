#include <algorithm>

#include "repository.hpp"
#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::bisect {
namespace {

bool same(const CommitHandle& a, const CommitHandle& b) {
  return git_oid_equal(git_commit_id(a.get()), git_commit_id(b.get())) != 0;
}

/// 1 if `commit` descends from `ancestor`, 0 if not, negative on an error.
int descends(git_repository* repository, const CommitHandle& commit, const CommitHandle& ancestor) {
  return git_graph_descendant_of(repository, git_commit_id(commit.get()),
                                 git_commit_id(ancestor.get()));
}

/// Asked before the walk: from a wrong branch it would run down thousands of commits.
Status check_order(git_repository* repository, const CommitHandle& good, const CommitHandle& bad) {
  if (same(good, bad)) {
    return fail(ErrorCode::invalid,
                "nothing to search: good and bad are the same commit, " + describe(good),
                "name two different ones");
  }
  const int forward = descends(repository, bad, good);
  if (forward < 0) return fail(git_failure("ancestry of " + describe(bad), forward));
  if (forward == 1) return {};
  const int backward = descends(repository, good, bad);
  if (backward < 0) return fail(git_failure("ancestry of " + describe(good), backward));
  if (backward == 1) {
    return fail(
        ErrorCode::invalid,
        "the range is reversed: bad " + describe(bad) + " is an ancestor of good " + describe(good),
        "swap the two");
  }
  return fail(ErrorCode::invalid,
              "good " + describe(good) + " is not an ancestor of bad " + describe(bad) +
                  ": they are on different branches",
              "name two commits of one branch");
}

}  // namespace

Result<std::vector<Commit>> CommitHistory::range(std::string_view good,
                                                 std::string_view bad) const {
  TW_TRY(const auto start, repository_->commit(good));
  TW_TRY(auto commit, repository_->commit(bad));
  TW_TRY_VOID(check_order(repository_->handle.get(), start, commit));
  const std::string end = describe(commit);
  std::vector<Commit> newest_first;
  while (!same(commit, start)) {
    TW_TRY(auto facts, repository_->describe_fully(commit));
    newest_first.push_back(std::move(facts));
    TW_TRY(commit, repository_->first_parent(commit));
    if (!commit) {
      return fail(ErrorCode::invalid,
                  "good " + describe(start) + " came into the branch of bad " + end +
                      " by a merge, it is not on its first-parent line",
                  "name a commit of the branch itself");
    }
  }
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

Result<std::optional<std::int64_t>> CommitHistory::count(std::string_view good,
                                                         std::string_view bad,
                                                         std::int64_t most) const {
  TW_TRY(const auto start, repository_->commit(good));
  TW_TRY(auto commit, repository_->commit(bad));
  for (std::int64_t passed = 0; commit && passed <= most; ++passed) {
    if (same(commit, start)) return passed;
    TW_TRY(commit, repository_->first_parent(commit));
  }
  return std::nullopt;
}

Result<std::int64_t> CommitHistory::position(std::string_view sha, std::string_view branch) const {
  TW_TRY(const auto wanted, repository_->commit(sha));
  TW_TRY_VOID(repository_->follow(std::string(branch)));
  const auto& line = repository_->lines[std::string(branch)];
  if (const auto position = line.position(*git_commit_id(wanted.get()))) return *position;
  return fail(ErrorCode::not_found,
              "commit " + describe(wanted) + " is not on the first-parent line of \"" +
                  std::string(branch) + "\" in repository " + repository_->path);
}

Result<std::string> CommitHistory::merge_base(std::string_view one, std::string_view other) const {
  TW_TRY(const auto first, repository_->commit(one));
  TW_TRY(const auto second, repository_->commit(other));
  git_oid found{};
  const int code = git_merge_base(&found, repository_->handle.get(), git_commit_id(first.get()),
                                  git_commit_id(second.get()));
  if (code == GIT_ENOTFOUND) {
    return fail(ErrorCode::not_found, "commits " + describe(first) + " and " + describe(second) +
                                          " have no common ancestor");
  }
  if (code != 0) return fail(git_failure("merge base of " + describe(first), code));
  return std::string(git_oid_tostr_s(&found));
}

std::int64_t CommitHistory::commits_read() const {
  return repository_->commits_read;
}

}  // namespace torchwatch::bisect
