#include "unreadable_folder.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>

namespace {

std::atomic<ino_t> unreadable{0};

}  // namespace

// The standard library reads folders by this function, here and in what it links to.
extern "C" dirent* readdir(DIR* folder) {
  using Readdir = dirent* (*)(DIR*);
  static const auto real = reinterpret_cast<Readdir>(dlsym(RTLD_NEXT, "readdir"));
  struct stat about{};
  const bool is_it = unreadable != 0 && fstat(dirfd(folder), &about) == 0;
  if (!is_it || about.st_ino != unreadable) return real(folder);
  errno = EIO;
  return nullptr;
}

namespace torchwatch::test {

UnreadableFolder::UnreadableFolder(const std::filesystem::path& folder) {
  struct stat about{};
  if (stat(folder.c_str(), &about) != 0) throw std::runtime_error("no folder " + folder.string());
  unreadable = about.st_ino;
}

UnreadableFolder::~UnreadableFolder() {
  unreadable = 0;
}

}  // namespace torchwatch::test
