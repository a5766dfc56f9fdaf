#pragma once

#include <filesystem>
#include <utility>

#include "torchwatch/records/error.hpp"

namespace torchwatch::platform {

/// A folder beside the system's temporary files that is removed, with all in it, with its object.
class PassingFolder {
 public:
  /// Errors: unavailable.
  static Result<PassingFolder> make();

  PassingFolder(PassingFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PassingFolder& operator=(PassingFolder&&) = delete;
  ~PassingFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PassingFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace torchwatch::platform
