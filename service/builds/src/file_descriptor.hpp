#pragma once

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// An open file that is closed at the end of its scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }

  /// A regular file, behind links. Errors: not_found (also a link that leads nowhere), invalid (a
  /// folder, a pipe), unavailable.
  static Result<FileDescriptor> open_to_read(const std::filesystem::path&);

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace torchwatch::builds
