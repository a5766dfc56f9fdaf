#include "own_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace torchwatch::orders {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> unusable(const fs::path& folder, const std::string& why) {
  return fail(ErrorCode::unavailable, "scratch folder " + folder.string() + ": " + why);
}

}  // namespace

std::string node_name() {
  const char* const name = std::getenv("SLURMD_NODENAME");
  if (name != nullptr && *name != '\0') return name;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

Status make_own_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) return unusable(folder.parent_path(), error.message());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return unusable(folder, std::strerror(errno));
  }
  struct stat about{};
  if (lstat(folder.c_str(), &about) != 0) return unusable(folder, std::strerror(errno));
  const bool is_own = S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
                      (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!is_own) return unusable(folder, "is not a folder of this user alone");
  return {};
}

}  // namespace torchwatch::orders
