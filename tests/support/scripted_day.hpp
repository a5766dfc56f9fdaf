#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "test_repository.hpp"
#include "torchwatch/config/config.hpp"

namespace torchwatch::test {

/// One commit of a scripted day.
struct ScriptedCommit {
  std::string subject;
  std::string behaviour;  ///< lines it adds to what a build does (README.md); empty: docs alone
  std::string file{};     ///< where they stand; by default a file of the commit's own
};

/// A day in a folder without LibTorch: a repository, a recipe that makes fake builds of its
/// commits, the nightlies of its first and last commit, and a configuration. The behaviour
/// "unbuildable" makes the recipe exit 125, and "fault" makes it exit 1.
class ScriptedDay {
 public:
  /// Throws on any error.
  ScriptedDay(const std::filesystem::path& folder, const std::vector<ScriptedCommit>& commits);

  const std::vector<std::string>& commits() const { return shas_; }  ///< oldest first
  config::Config config() const;

  /// Makes a build of a commit in the channel's folder, as the recipe would.
  void publish(const std::string& name, const std::string& sha, const std::string& behaviour);

 private:
  std::filesystem::path folder_;
  std::vector<std::string> shas_;
};

/// Returns the configuration of the scripted day in that folder.
config::Config scripted_config(const std::filesystem::path& folder);

/// A day of 12 commits: one does not build, four cannot change the library, commit 5 makes
/// soft_actor_critic's training half as slow again, commit 8 makes dlrm's keep 4,096 bytes.
std::vector<ScriptedCommit> day_with_two_culprits();

}  // namespace torchwatch::test
