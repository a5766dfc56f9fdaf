#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "torchwatch/process/process.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::source {

struct CloneSettings {
  std::string address;           ///< what git fetches from
  std::string branch;            ///< the trunk
  std::filesystem::path folder;  ///< the clone, bare
  std::chrono::seconds time_limit{7200};
  std::chrono::seconds stall_limit{120};  ///< how long a server may send nothing
};

/// The clone of a repository elsewhere: its trunk, and the branches that nightlies are made on. It
/// is whole, with the contents of all files: reverts, checkouts and renames are read from it.
///
/// A branch that was pushed with force is followed; commits that it lost stay in the clone. One
/// process at a time fetches into it, and others may read meanwhile. Thread-safe but for `open`.
class Clone {
 public:
  /// Makes the folder an empty repository, unless it is one. Errors: unavailable.
  static Result<Clone> open(CloneSettings, process::ProcessRunner&);

  /// Fetches what is new. Errors: unavailable (the server cannot be reached, or has no such
  /// branch, or another process fetches), timed_out, cancelled.
  Status refresh(std::stop_token stop);

  /// Fetches a commit that no branch of the clone holds. Errors: not_found, when the server does
  /// not give it; those of refresh.
  Status fetch(const std::string& commit, std::stop_token stop);

 private:
  Clone(CloneSettings settings, process::ProcessRunner& processes)
      : settings_(std::move(settings)), processes_(&processes) {}
  Status run(std::vector<std::string> arguments, std::stop_token stop);

  CloneSettings settings_;
  process::ProcessRunner* processes_;
};

/// Returns whether a text is the name of a commit, which the server may have though the clone lacks
/// it: 7 to 40 hexadecimal digits.
bool is_commit_name(std::string_view text);

}  // namespace torchwatch::source
