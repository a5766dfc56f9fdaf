#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/doors/process.hpp"

namespace torchwatch::channel {

/// pip in a child (reliability.md section 5): isolated from the user's site and configuration, an
/// own HOME, wheels only, so that no foreign setup.py ever runs. What the user has set in PIP_...
/// variables about where the index is (PIP_INDEX_URL, PIP_CERT ...) reaches it by a configuration
/// file of its own: `--isolated` drops the variables, and an address may hold a password, which
/// must not stand in a command line.
class Pip {
 public:
  struct Settings {
    std::string python;             ///< "python3"
    std::filesystem::path scratch;  ///< for its HOME and temporary files; made where there is none
    std::chrono::seconds time_limit;
  };
  Pip(Settings settings, doors::ProcessRunner& processes)
      : settings_(std::move(settings)), processes_(processes) {}

  /// Downloads the wheel that satisfies `requirement`, without those it needs, into a folder of its
  /// own (made where there is none; a wheel that lies there already is not fetched again).
  /// Errors: not_found (no such release), unavailable, timed_out, cancelled.
  Result<std::filesystem::path> download(const std::string& requirement,
                                         const std::filesystem::path& folder, std::stop_token stop);

  /// Versions of a package in the index, newest first. Errors: as above.
  Result<std::vector<std::string>> versions(const std::string& package, std::stop_token stop);

 private:
  Result<std::string> run(std::vector<std::string> arguments, std::stop_token stop);

  Settings settings_;
  doors::ProcessRunner& processes_;
};

/// The versions in what `pip index versions` prints; none: it is not that.
std::vector<std::string> parse_versions(const std::string& output);

}  // namespace torchwatch::channel
