#pragma once

#include <filesystem>
#include <utility>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::builds {

/// Lets one process at a time work in a folder: an flock on a file in it. It ends with the holder's
/// life and is not inherited by children.
class FolderLock {
 public:
  /// Makes a missing folder. Errors: unavailable, also while another process holds it, which ends.
  static Result<FolderLock> acquire(const std::filesystem::path& folder);

 private:
  explicit FolderLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace torchwatch::builds
