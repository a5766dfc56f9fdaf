#pragma once

#include <filesystem>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// At most one process works in a folder: an flock on a file in it. Ends with the holder's life
/// (and is not inherited by children).
class FolderLock {
 public:
  /// Makes the folder where there is none. Errors: conflict (somebody holds it), unavailable.
  static Result<FolderLock> acquire(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace torchwatch::builds
