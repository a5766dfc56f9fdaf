#include "torchwatch/builds/file_hashes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::builds {

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
  TW_TRY(const UniqueFd file, platform::open_to_read(path));
  constexpr std::size_t kBlockBytes = 1U << 18U;
  digest::Sha256 hash;
  std::vector<char> block(kBlockBytes);
  for (;;) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::unavailable, "cannot read " + path.string() + ": " + strerror(errno));
    }
    if (got == 0) return hash.hex();
    hash.add({block.data(), static_cast<std::size_t>(got)});
  }
}

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
  if (known_.size() >= most_) known_.clear();
  known_[identity] = hash;
  return hash;
}

std::size_t FileHashes::known() const {
  const std::scoped_lock lock(mutex_);
  return known_.size();
}

FileHashes& process_file_hashes() {
  static FileHashes hashes;
  return hashes;
}

}  // namespace torchwatch::builds
