#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::channel {

/// Where builds come from.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Names of the complete builds, in the channel's own order (oldest first as far as it knows).
  virtual Result<std::vector<std::string>> list(std::stop_token stop) = 0;
  /// Brings the build here, whole and checked. A half-fetched or damaged one never becomes
  /// visible; a further call resumes. Errors: not_found, corrupt, unavailable, timed_out,
  /// cancelled.
  virtual Result<builds::Tree> fetch(const std::string& name, std::stop_token stop) = 0;
};

/// One folder per build; nothing is copied. A folder without build-hash is not complete yet and is
/// not listed.
std::unique_ptr<Channel> make_directory_channel(std::filesystem::path folder);

struct WheelIndexSettings {
  std::filesystem::path program;  ///< deploy/libtorch, which makes a tree from wheels
  std::filesystem::path cache;    ///< the release V is kept in V/torch
  std::string python = "python3";
  std::chrono::seconds time_limit{3600};  ///< for listing, and for one release
  sandbox::Sandbox sandbox = {};
};
/// Releases of the Python package index. `fetch("2.12.1")` takes exactly that release (the ordinary
/// wheel, not 2.12.1+cpu); `list` asks the index. Thread-safe; one release is fetched at a time.
/// Errors of fetch: also conflict (another process fetches into the same cache).
std::unique_ptr<Channel> make_wheel_index_channel(WheelIndexSettings, process::ProcessRunner&);

}  // namespace torchwatch::channel
