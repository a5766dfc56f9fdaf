#include "torchwatch/builds/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

namespace torchwatch::builds {

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "cannot make the folder " + folder.string() + ": " + error.message());
  }
  const std::string file = (folder / "lock").string();
  FolderLock lock(UniqueFd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)));
  if (!lock.file_.is_open()) {
    return fail(ErrorCode::unavailable, "cannot open " + file + ": " + strerror(errno));
  }
  if (flock(lock.file_.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return fail(ErrorCode::unavailable, "another process is working in " + folder.string() +
                                            " (it holds " + file + "): try again when it is done");
  }
  return fail(ErrorCode::unavailable, "cannot lock " + file + ": " + strerror(errno));
}

}  // namespace torchwatch::builds
