#pragma once

#include <filesystem>

#include "torchwatch/executor/executor.hpp"

namespace torchwatch::executor {

inline constexpr std::string_view kAttemptPrefix = "attempt-";

/// What one attempt needs, in a folder of its own that is removed with this object. Runner and
/// libraries are reached by links in it, so that every run of whatever build has paths of equal
/// length: the size of arguments and environment alone shifts what is measured.
class AttemptFolder {
 public:
  static std::filesystem::path path_of(const std::filesystem::path& scratch, const RunOrder&);
  /// Errors: unavailable.
  static Result<AttemptFolder> create(const std::filesystem::path& scratch, const RunOrder&);
  AttemptFolder(AttemptFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  AttemptFolder& operator=(AttemptFolder&&) = delete;
  AttemptFolder(const AttemptFolder&) = delete;
  AttemptFolder& operator=(const AttemptFolder&) = delete;
  ~AttemptFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path runner() const { return path_ / "runner"; }
  std::filesystem::path libraries() const { return path_ / "lib"; }
  std::filesystem::path request() const { return path_ / "REQUEST.json"; }
  std::filesystem::path result() const { return path_ / "RESULT.json"; }

 private:
  explicit AttemptFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace torchwatch::executor
