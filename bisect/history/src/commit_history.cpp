#include "torchwatch/history/commit_history.hpp"

#include <algorithm>
#include <regex>

#include "repository.hpp"

namespace torchwatch::bisect {
namespace {

namespace fs = std::filesystem;

/// git_repository_open_bare also opens the `.git` folder of a repository with a worktree, and does
/// not refuse one that belongs to another user, which every container meets. Nothing named in the
/// repository's configuration is run here. A linked worktree needs the general call.
RepositoryHandle open_handle(const fs::path& path, int& code) {
  for (const auto& folder : {path / ".git", path}) {
    auto handle = git_make<RepositoryHandle>(
        code, [&](git_repository** out) { return git_repository_open_bare(out, folder.c_str()); });
    if (handle) return handle;
  }
  return git_make<RepositoryHandle>(code, [&](git_repository** out) {
    return git_repository_open_ext(out, path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  });
}

std::vector<std::string> paths_of(const DiffHandle& diff) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
    paths.push_back(text_of(delta->new_file.path));
    paths.push_back(text_of(delta->old_file.path));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Commit facts_of(const CommitHandle& handle) {
  Commit commit;
  commit.sha = sha_of(handle);
  commit.subject = text_of(git_commit_summary(handle.get()));
  const git_signature* author = git_commit_author(handle.get());
  commit.author_name = text_of(author->name);
  commit.author_email = text_of(author->email);
  commit.author_time = author->when.time;
  commit.committer_time = git_commit_time(handle.get());
  for (unsigned i = 0; i < git_commit_parentcount(handle.get()); ++i) {
    commit.parents.push_back(to_hex(*git_commit_parent_id(handle.get(), i)));
  }
  return commit;
}

}  // namespace

CommitHistory::CommitHistory(std::unique_ptr<Repository> repository)
    : repository_(std::move(repository)) {}
CommitHistory::CommitHistory(CommitHistory&&) noexcept = default;
CommitHistory& CommitHistory::operator=(CommitHistory&&) noexcept = default;
CommitHistory::~CommitHistory() = default;

fs::path CommitHistory::folder() const {
  return git_repository_commondir(repository_->handle.get());
}

Result<CommitHistory> CommitHistory::open(const fs::path& path) {
  start_libgit2();
  auto repository = std::make_unique<Repository>();
  repository->path = path.string();
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return fail(ErrorCode::not_found, "repository " + path.string() + " does not exist",
                "set [source] repository to a git repository, bare or not");
  }
  int code = 0;
  repository->handle = open_handle(path, code);
  if (!repository->handle) {
    return fail(git_failure(path.string() + " is not a git repository", code));
  }
  return CommitHistory(std::move(repository));
}

Result<std::string> CommitHistory::resolve(std::string_view revision) const {
  TW_TRY(const auto commit, repository_->commit(revision));
  return sha_of(commit);
}

Result<std::string> CommitHistory::trunk_commit(std::string_view revision) const {
  TW_TRY(const auto named, named_trunk_commit(revision));
  const auto trunk = repository_->commit(named);
  if (trunk) return named;
  TW_TRY(const auto nightly, repository_->commit(revision));
  return fail(trunk.error().within("trunk commit of nightly " + describe(nightly)));
}

Result<std::string> CommitHistory::named_trunk_commit(std::string_view revision) const {
  static const std::regex kNightly("nightly release \\(([0-9a-f]{40})\\)");
  TW_TRY(const auto commit, repository_->commit(revision));
  const std::string subject = text_of(git_commit_summary(commit.get()));
  std::smatch found;
  return std::regex_search(subject, found, kNightly) ? found[1].str() : sha_of(commit);
}

Result<Commit> CommitHistory::commit(std::string_view sha) const {
  TW_TRY(const auto handle, repository_->commit(sha));
  return repository_->describe_fully(handle);
}

Result<std::string> CommitHistory::parent(std::string_view sha) const {
  TW_TRY(const auto commit, repository_->commit(sha));
  TW_TRY(const auto parent, repository_->first_parent(commit));
  if (!parent) {
    return fail(ErrorCode::invalid, "commit " + describe(commit) +
                                        " is the first of its repository: it has no parent to "
                                        "compare with");
  }
  return sha_of(parent);
}

Result<Commit> CommitHistory::Repository::describe_fully(const CommitHandle& commit) const {
  TW_TRY(const auto parent, first_parent(commit));
  TW_TRY(const auto tree, this->tree(commit));
  TreeHandle before;  // stays null for a root commit: everything in it is new
  if (parent) {
    TW_TRY(before, this->tree(parent));
  }
  int code = 0;
  const auto diff = git_make<DiffHandle>(code, [&](git_diff** out) {
    return git_diff_tree_to_tree(out, handle.get(), before.get(), tree.get(), nullptr);
  });
  if (!diff) return fail(git_failure("changed files of commit " + sha_of(commit), code));
  Commit facts = facts_of(commit);
  facts.changed_paths = paths_of(diff);
  return facts;
}

}  // namespace torchwatch::bisect
