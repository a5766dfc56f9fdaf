#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// Returns the SHA-256 of a file's content, behind links, in hex. Errors: not_found, invalid (not a
/// regular file), unavailable.
Result<std::string> sha256_of_file(const std::filesystem::path&);

/// Hashes files with SHA-256, each one once as long as its device, inode, size and time of change
/// stay the same. Thread-safe.
class FileHashes {
 public:
  /// `most`: how many files are known at a time; one more, and all are hashed anew when asked for.
  /// A daemon sees new builds for years.
  explicit FileHashes(std::size_t most = 10'000) : most_(most) {}

  /// Errors: as of sha256_of_file.
  Result<std::string> of(const std::filesystem::path&);
  std::size_t known() const;

 private:
  using Identity =
      std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<Identity, std::string> known_;
};

/// Returns the hashes of this process: LibTorch's libraries have 450 MB and are asked for often.
FileHashes& process_file_hashes();

}  // namespace torchwatch::builds
