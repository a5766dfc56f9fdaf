#pragma once

#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/channel/channel.hpp"

namespace torchwatch::channel {

struct ArtifactSettings {
  std::filesystem::path program;  ///< deploy/libtorch, which makes a tree from what is published
  std::filesystem::path folder;   ///< where the trees go; what is downloaded lies there meanwhile
  /// Where the build of a commit lies: https:// or the path of a wheel or archive, with {commit}.
  /// Its SHA-256 lies beside it, with ".sha256" behind the name.
  std::string address;
  bool for_cuda = false;     ///< with all libraries of CUDA that a wheel requires
  bool with_python = false;  ///< with what Python imports; of a wheel alone
  std::string python = "python3";
  std::chrono::seconds time_limit{3600};  ///< for one build
  std::int64_t disk_reserve_bytes = 0;    ///< what a download leaves free of the disk
  sandbox::Sandbox sandbox = {};
};

/// Builds of commits that somebody else has made. A build counts only if its hash is right and it
/// says that it was made from the commit. The file `origin` in the tree names where it came from.
/// Errors of `bring`: not_found (nobody made one), corrupt, unavailable, timed_out, cancelled.
builds::CommitBuilder::Artifacts make_artifacts(ArtifactSettings, process::ProcessRunner&);

}  // namespace torchwatch::channel
