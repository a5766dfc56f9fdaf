#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/bisect/candidate_commits.hpp"

namespace torchwatch::bisect {

/// The folders that a commit changes, two levels deep ("aten/src"; "." for files at the root).
using Folders = std::set<std::string>;

/// Returns the folders of the paths that may change the library.
Folders folders_of(const Commit&, const PathPatterns& cannot_change);

/// Where culprits are to be looked for first, learned from past searches: which folders their
/// culprits changed, beside how many of their commits did.
class PathPrior {
 public:
  /// Takes in a search that named its culprit: the folders of all commits that it chose from, and
  /// the place of the culprit among them.
  void learn(const std::vector<Folders>& commits, std::size_t culprit);

  /// Returns a weight for each commit, 1 on average and at least `kLeastWeight`. A commit has the
  /// weight of that folder of its own in which culprits are most likely. All alike where nothing is
  /// learned.
  std::vector<double> weights(const std::vector<Folders>& commits) const;

  static constexpr double kLeastWeight = 0.1;

  /// How many searches were taken in.
  int searches() const { return searches_; }
  /// The folders that the most culprits changed, with how many did; as many as asked for.
  std::vector<std::pair<std::string, int>> most_changed(std::size_t count) const;

 private:
  double weight(const Folders&) const;

  int searches_ = 0;
  std::map<std::string, int> culprits_;     ///< that changed the folder
  std::map<std::string, double> expected_;  ///< were every commit as likely
};

}  // namespace torchwatch::bisect
