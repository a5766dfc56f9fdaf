#include "file_hashes.hpp"

#include <sys/stat.h>

#include <optional>

#include "torchwatch/builds/sha256.hpp"

namespace torchwatch::builds {

Result<std::string> FileHashes::of(const std::filesystem::path& path) {
  struct stat about{};
  // Where that fails, hashing gives the error.
  if (stat(path.c_str(), &about) != 0) return sha256_of_file(path);
  const Identity identity{about.st_dev, about.st_ino, about.st_size, about.st_mtim.tv_sec,
                          about.st_mtim.tv_nsec};
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(identity); found != known_.end()) return found->second;
  }
  TW_TRY(std::string hash, sha256_of_file(path));
  const std::scoped_lock lock(mutex_);
  known_[identity] = hash;
  return hash;
}

FileHashes& process_file_hashes() {
  static FileHashes hashes;
  return hashes;
}

}  // namespace torchwatch::builds
