#include <system_error>

#include "repository.hpp"
#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::bisect {
namespace {

namespace fs = std::filesystem;

Status make_empty_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_empty(folder, error)) return {};
  if (error) {
    return fail(ErrorCode::unavailable, "folder " + folder.string() + ": " + error.message());
  }
  return fail(ErrorCode::conflict, "folder " + folder.string() + " is in the way of a checkout",
              "it must be new or empty");
}

/// The commit's files; nothing of the repository's own worktree, index or HEAD is involved.
int write_files(git_repository* repository, const CommitHandle& commit, const fs::path& folder) {
  git_checkout_options options = GIT_CHECKOUT_OPTIONS_INIT;
  options.checkout_strategy =
      GIT_CHECKOUT_FORCE | GIT_CHECKOUT_DONT_UPDATE_INDEX | GIT_CHECKOUT_NO_REFRESH;
  options.target_directory = folder.c_str();
  return git_checkout_tree(repository, reinterpret_cast<const git_object*>(commit.get()), &options);
}

}  // namespace

Status CommitHistory::checkout(std::string_view sha, const fs::path& folder) const {
  TW_TRY(const auto commit, repository_->commit(sha));
  TW_TRY_VOID(repository_->tree(commit));
  TW_TRY_VOID(make_empty_folder(folder));
  const int code = write_files(repository_->handle.get(), commit, folder);
  if (code == 0) return {};
  return fail(git_failure("checkout of " + describe(commit) + " into " + folder.string(), code));
}

Status check_out(const fs::path& repository, std::string_view sha, const fs::path& folder) {
  TW_TRY(const auto history, CommitHistory::open(repository));
  return history.checkout(sha, folder);
}

}  // namespace torchwatch::bisect
