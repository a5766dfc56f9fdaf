#include "git_handles.hpp"

namespace torchwatch::bisect {
namespace {

ErrorCode code_of(int git_code) {
  switch (git_code) {
    case GIT_ENOTFOUND:
    case GIT_EAMBIGUOUS:
      return ErrorCode::not_found;
    case GIT_EINVALIDSPEC:
      return ErrorCode::invalid;
    case GIT_ECONFLICT:
    case GIT_EMERGECONFLICT:
    case GIT_ELOCKED:
    case GIT_EEXISTS:
      return ErrorCode::conflict;
    default:
      return ErrorCode::unavailable;
  }
}

// By default libgit2 keeps 256 MiB of objects and maps a pack in windows of 1 GiB, all of which
// counts as memory of a service that reads a few commits every ten minutes.
constexpr ssize_t kCacheBytesMax = 4 << 20;
constexpr std::size_t kWindowBytes = 1 << 20;
constexpr std::size_t kMappedBytesMax = 4 << 20;

/// libgit2 counts its users.
class GitLibrary {
 public:
  GitLibrary() {
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, kCacheBytesMax);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, kWindowBytes);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, kMappedBytesMax);
  }
  ~GitLibrary() { git_libgit2_shutdown(); }
  GitLibrary(const GitLibrary&) = delete;
  GitLibrary& operator=(const GitLibrary&) = delete;
};

}  // namespace

void start_libgit2() {
  static GitLibrary library;
}

Error git_failure(std::string_view what, int code) {
  const git_error* last = git_error_last();
  std::string message(what);
  message += ": ";
  message +=
      last != nullptr && last->message != nullptr ? last->message : "libgit2 gives no reason";
  message += " (libgit2 " + std::to_string(code) + ")";
  return Error{code_of(code), std::move(message)};
}

std::string to_hex(const git_oid& oid) {
  std::string hex(GIT_OID_HEXSZ, '0');
  git_oid_fmt(hex.data(), &oid);
  return hex;
}

}  // namespace torchwatch::bisect
