#pragma once

#include <cstdint>
#include <functional>

#include "torchwatch/builds/commit_builder.hpp"

namespace torchwatch::channel {

struct ActionsSettings {
  std::filesystem::path program;  ///< deploy/libtorch, which makes a tree from what Actions made
  std::filesystem::path folder;   ///< where the trees go; what is downloaded lies there meanwhile
  std::string api;                ///< the address of GitHub's API
  std::string repository;         ///< whose workflow builds, as owner/name
  std::string commits;            ///< which has the commits, as owner/name; empty: the same one
  std::string workflow;           ///< the name of its file
  std::string ref;                ///< the branch or tag whose workflow runs
  std::string artifact;           ///< the name of the artifact that it makes
  /// Reads the token; called for each build. Errors: unavailable, invalid.
  std::function<Result<std::string>()> token;
  bool for_cuda = false;     ///< with all libraries of CUDA that a wheel requires
  bool with_python = false;  ///< with what Python imports; of a wheel alone
  std::string python = "python3";
  std::chrono::seconds time_limit{4 * 3600};  ///< for one run of the workflow
  std::int64_t disk_reserve_bytes = 0;        ///< what a download leaves free of the disk
  sandbox::Sandbox sandbox = {};
};

/// Builds of commits by a workflow of GitHub Actions, which is started for each; a run that an
/// earlier call started is found again. A build counts only if its hash is right and it says that
/// it was made from the commit. The file `made-by` in the tree names the run.
builds::CommitBuilder::Remote make_actions_builds(ActionsSettings, process::ProcessRunner&);

}  // namespace torchwatch::channel
