#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::channel {

/// A build that a channel has.
struct Offer {
  std::string name;
  /// What the index says of the file behind the name ("sha256=...;size=...;path=..."), by which
  /// `is_same_file` tells whether it was replaced. Empty: only the tree itself can tell.
  std::string fingerprint = {};
  bool operator==(const Offer&) const = default;
};

std::vector<std::string> names_of(const std::vector<Offer>&);

/// Where builds come from.
class Channel {
 public:
  virtual ~Channel() = default;
  /// The complete builds, in the channel's own order (oldest first as far as it knows).
  virtual Result<std::vector<Offer>> list(std::stop_token stop) = 0;
  /// Brings the build here, whole and checked. A half-fetched or damaged one never becomes
  /// visible; a further call resumes. Errors: not_found (also when the file has been replaced
  /// since), corrupt, unavailable, timed_out, cancelled.
  virtual Result<builds::Tree> fetch(const Offer&, std::stop_token stop) = 0;
  /// Says how builds are fetched, as far as it decides whether one can be had: the same file may be
  /// refused for one Python and taken for another. Empty: in one way only.
  virtual std::string manner() const = 0;
  /// With how many of the newest builds a service begins that knows none yet; nothing: with all.
  virtual std::optional<std::size_t> at_first() const = 0;
};

/// One folder per build; nothing is copied. A folder without build-hash is not complete yet and is
/// not listed.
std::unique_ptr<Channel> make_directory_channel(std::filesystem::path folder);

struct WheelIndexSettings {
  std::filesystem::path program;  ///< deploy/libtorch, which makes a tree from wheels
  /// Version V is kept in V/torch, with a fingerprint in V-HEX/torch, for GPUs in V-cuda/torch, for
  /// Python in V-python/torch.
  std::filesystem::path cache;
  std::string index = {};     ///< its address; empty: pip's own settings name one
  bool has_archives = false;  ///< the index is one of LibTorch archives, not of wheels
  std::string flavour = {};   ///< only versions with this label, such as cpu; empty: all
  bool for_cuda = false;      ///< with all libraries of CUDA that the version requires
  bool with_python = false;   ///< with what Python imports, and the packages that this requires
  std::string since = {};     ///< a date or version, the oldest that is listed; empty: all
  std::string python = "python3";
  std::chrono::seconds time_limit{3600};  ///< for listing, and for one release
  std::int64_t disk_reserve_bytes = 0;    ///< what a download leaves free of the disk
  sandbox::Sandbox sandbox = {};
};
/// Versions of PyTorch on a package index: nightlies where `index` names one, else releases, as pip
/// finds them. `fetch({"2.12.1"})` takes exactly that version (the ordinary wheel, not 2.12.1+cpu).
/// Thread-safe; one version is fetched at a time, and by one process: unavailable to another.
std::unique_ptr<Channel> make_wheel_index_channel(WheelIndexSettings, process::ProcessRunner&);

}  // namespace torchwatch::channel
