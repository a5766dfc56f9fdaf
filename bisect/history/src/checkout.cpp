#include <system_error>

#include "repository.hpp"
#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::bisect {
namespace {

namespace fs = std::filesystem;

/// Removes a half-written folder unless it was published.
class PartialFolder {
 public:
  explicit PartialFolder(fs::path path) : path_(std::move(path)) {}
  ~PartialFolder() {
    std::error_code ignored;
    if (!published_) fs::remove_all(path_, ignored);
  }
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;

  Status create() {
    std::error_code error;
    fs::remove_all(path_, error);
    if (!error) fs::create_directories(path_, error);
    if (error)
      return fail(ErrorCode::unavailable, "folder " + path_.string() + ": " + error.message());
    return {};
  }
  /// Renames over `target`, which may be an empty folder.
  Status publish(const fs::path& target) {
    std::error_code error;
    fs::rename(path_, target, error);
    if (error)
      return fail(ErrorCode::unavailable, "folder " + target.string() + ": " + error.message());
    published_ = true;
    return {};
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool published_ = false;
};

fs::path beside(const fs::path& folder) {
  const fs::path target = folder.has_filename() ? folder : folder.parent_path();  // "made/"
  return target.string() + ".partial";
}

Status check_free(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  if (fs::is_directory(folder, error) && fs::is_empty(folder, error)) return {};
  return fail(ErrorCode::conflict, "folder " + folder.string() +
                                       " is in the way of a checkout; it must be new or empty");
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
  TW_TRY_VOID(check_free(folder));
  PartialFolder partial(beside(folder));
  TW_TRY_VOID(partial.create());
  const int code = write_files(repository_->handle.get(), commit, partial.path());
  if (code != 0) {
    return fail(git_failure("checkout of " + describe(commit) + " into " + folder.string(), code));
  }
  return partial.publish(folder);
}

Status check_out(const fs::path& repository, std::string_view sha, const fs::path& folder) {
  TW_TRY(const auto history, CommitHistory::open(repository));
  return history.checkout(sha, folder);
}

}  // namespace torchwatch::bisect
