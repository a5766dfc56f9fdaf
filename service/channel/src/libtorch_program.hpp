#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::channel {

/// What a tree gets beside all libraries of PyTorch.
struct Extent {
  bool for_cuda = false;     ///< all of CUDA that it requires, which the trees in a folder share
  bool with_python = false;  ///< what Python imports
};

/// Adds the options that ask for a tree of that extent. `folder`: where trees share CUDA.
void add_extent(Extent, const std::filesystem::path& folder, std::vector<std::string>& arguments);

/// Moves what lies in `from` into its parent, and removes everything else there. Errors:
/// unavailable.
Status move_up(const std::filesystem::path& from);

/// Calls of deploy/libtorch, which makes trees from what is published.
class LibtorchProgram {
 public:
  struct Settings {
    std::filesystem::path program;
    std::string python;
    std::filesystem::path folder;                 ///< where it works, which it may write
    std::vector<std::filesystem::path> readable;  ///< what else it may read
    std::chrono::seconds time_limit;
    std::int64_t disk_reserve_bytes;  ///< what a download leaves free of the disk
    sandbox::Sandbox sandbox;
  };
  LibtorchProgram(Settings settings, process::ProcessRunner& processes)
      : settings_(std::move(settings)), processes_(processes) {}

  /// Returns what it prints. It is isolated from the user's Python packages, home folder and
  /// pip.conf, and has the network. `more`: further variables, for what nobody else on the machine
  /// may read. Errors: not_found (nothing is published under that name), invalid (the commit cannot
  /// be built), corrupt, unavailable, timed_out, cancelled.
  Result<std::string> run(std::vector<std::string> arguments,
                          const std::map<std::string, std::string>& more,
                          std::stop_token stop) const;

 private:
  sandbox::Profile profile_for(const process::ProcessSpec&) const;
  Error explain(const process::ProcessOutcome&) const;

  Settings settings_;
  process::ProcessRunner& processes_;
};

}  // namespace torchwatch::channel
