#include "open_to_read.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_open(const fs::path& path, int error) {
  std::error_code ignored;
  if (error == ENOENT && fs::is_symlink(path, ignored)) {
    return fail(ErrorCode::not_found, path.string() + " is a link to " +
                                          fs::read_symlink(path, ignored).string() +
                                          ", which is not there");
  }
  if (error == ENOENT) return fail(ErrorCode::not_found, "there is no " + path.string());
  return fail(ErrorCode::unavailable, "cannot open " + path.string() + ": " + strerror(error));
}

}  // namespace

Result<UniqueFd> open_to_read(const fs::path& path) {
  // Non-blocking, so that a pipe put in the file's place cannot hold the reader.
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return cannot_open(path, errno);
  struct stat about{};
  if (fstat(file.get(), &about) != 0) return cannot_open(path, errno);
  if (!S_ISREG(about.st_mode)) {
    return fail(ErrorCode::invalid, path.string() + " is not a regular file");
  }
  return file;
}

}  // namespace torchwatch::builds
