#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::executor {

/// Begins the name of every attempt's folder.
inline constexpr std::string_view kAttemptPrefix = "attempt-";

/// The scratch folder of one attempt, removed with this object. Runner and libraries are reached by
/// links in it, so that every run of every build has paths of equal length: the size of arguments
/// and environment alone shifts what is measured.
class AttemptFolder {
 public:
  static std::filesystem::path path_of(const std::filesystem::path& scratch, const RunSpec&);
  /// Makes the folder, empty but for the links and the request. Errors: unavailable.
  static Result<AttemptFolder> create(const std::filesystem::path& scratch, const RunSpec&);
  AttemptFolder(AttemptFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  AttemptFolder& operator=(AttemptFolder&&) = delete;
  AttemptFolder(const AttemptFolder&) = delete;
  AttemptFolder& operator=(const AttemptFolder&) = delete;
  ~AttemptFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path runner() const { return path_ / "runner"; }
  std::filesystem::path libraries() const { return path_ / "lib"; }
  /// The build, for an external workload alone. Python imports the folder that lies in "build" as
  /// torch.
  std::filesystem::path tree() const { return path_ / "build" / "torch"; }
  std::filesystem::path request() const { return path_ / "REQUEST.json"; }
  std::filesystem::path result() const { return path_ / "RESULT.json"; }

 private:
  explicit AttemptFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// The two named pipes of an interleaved pair. They are held open here as long as this object
/// lives, so that neither run waits for the other to open its end. Thread-safe.
class InterleavePipes {
 public:
  /// Makes the pipes in folders that exist. Errors: unavailable.
  static Result<InterleavePipes> create(const std::array<protocol::Interleave, 2>& pipes);

  /// Sends the other run the message that run `index` has ended, however it did.
  void send_ended(std::size_t index) const;

 private:
  std::array<UniqueFd, 2> own_;  ///< by the run that reads it
};

}  // namespace torchwatch::executor
