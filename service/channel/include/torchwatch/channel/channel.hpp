#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/doors/process.hpp"

namespace torchwatch::channel {

/// Where builds come from.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Names of the complete builds, in the channel's own order (oldest first as far as it knows).
  virtual Result<std::vector<std::string>> list(std::stop_token stop) = 0;
  /// Brings the build here, whole and checked. A half-fetched or damaged one never becomes
  /// visible; calling again resumes. Errors: not_found, corrupt, unavailable, cancelled.
  virtual Result<builds::Tree> fetch(const std::string& name, std::stop_token stop) = 0;
};

/// One folder a build; nothing is copied. A folder without build-hash is not complete yet and is
/// not listed.
std::unique_ptr<Channel> make_directory_channel(std::filesystem::path folder);

struct WheelIndexSettings {
  std::filesystem::path cache;  ///< unpacked releases lie here, by version
  std::string python = "python3";
  std::chrono::seconds time_limit{1800};
  std::int64_t unpacked_bytes_max = std::int64_t{12} << 30;
};
/// Releases of the Python package index through pip. `fetch("2.12.1")` takes exactly that release
/// (`torch===2.12.1`, the ordinary CUDA wheel) with the small CUDA libraries that it needs to
/// load; `list` asks pip for the versions.
std::unique_ptr<Channel> make_wheel_index_channel(WheelIndexSettings, doors::ProcessRunner&);

}  // namespace torchwatch::channel
