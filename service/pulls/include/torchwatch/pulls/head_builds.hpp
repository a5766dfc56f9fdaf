#pragma once

#include <filesystem>
#include <optional>

#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::pulls {

/// Makes builds and runners of code that nobody has reviewed, in a folder that nothing trusted
/// reads, and in the sandbox alone. Not thread-safe.
class HeadBuilds {
 public:
  struct Settings {
    std::filesystem::path kit_sources;
    sandbox::Sandbox sandbox;
    builds::CommitBuilder::Checkout checkout;
    /// Makes the runners of all builds; null: each head gets a kit of its own. For tests.
    comparison::RunnerSource* runners = nullptr;
  };
  /// What is passed must outlive the object.
  HeadBuilds(const config::Config&, comparison::RunnerSource& trusted, process::ProcessRunner&,
             Settings);
  ~HeadBuilds();

  bool is_confined() const { return sandbox_.kind() != sandbox::Kind::none; }
  /// Builds a head. `base` is the build that the recipe may start from, to read. Errors: those of
  /// CommitBuilder::build.
  Result<builds::CommitBuild> build(const std::string& commit, const builds::Tree& base,
                                    std::stop_token stop);
  /// The services with runners that keep heads apart. They build no commits.
  comparison::Services services(const comparison::Services& trusted);
  /// Removes what was last used before that. Call it while nothing is measured. Errors: conflict,
  /// unavailable.
  Status remove_older(std::filesystem::file_time_type used_before);
  /// Removes what was made of one head. Call it while nothing of it is measured. Errors: likewise.
  Status remove(const std::string& commit);

 private:
  class Runners;
  std::filesystem::path folder_;
  sandbox::Sandbox sandbox_;
  builds::CommitBuilder builder_;
  std::unique_ptr<Runners> runners_;
  std::unique_ptr<comparison::RunnerSource> suite_;  ///< those, with the external workloads
};

/// Returns the folder of all that is made of pull requests.
std::filesystem::path folder_of_pulls(const config::Config&);

}  // namespace torchwatch::pulls
