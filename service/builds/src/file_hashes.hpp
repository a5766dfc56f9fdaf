#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// SHA-256 of files, each hashed once as long as device, inode, size and time of change are the
/// same. Thread-safe.
class FileHashes {
 public:
  Result<std::string> of(const std::filesystem::path&);

 private:
  using Identity =
      std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;

  std::mutex mutex_;
  std::map<Identity, std::string> known_;
};

/// The one of this process: LibTorch's libraries have 450 MB and are asked for again and again.
FileHashes& process_file_hashes();

}  // namespace torchwatch::builds
