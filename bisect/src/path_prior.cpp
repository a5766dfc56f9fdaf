#include "torchwatch/bisect/path_prior.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace torchwatch::bisect {
namespace {

/// What is believed of a folder before anything is known: a culprit where one was expected.
constexpr double kPseudoCulprits = 1;

std::string folder_of(const std::string& path) {
  const auto first = path.find('/');
  if (first == std::string::npos) return ".";
  return path.substr(0, std::min(path.find('/', first + 1), path.rfind('/')));
}

template <typename Number>
double known(const std::map<std::string, Number>& counts, const std::string& folder) {
  const auto found = counts.find(folder);
  return found == counts.end() ? 0 : static_cast<double>(found->second);
}

}  // namespace

Folders folders_of(const Commit& commit, const PathPatterns& cannot_change) {
  Folders folders;
  for (const auto& path : commit.changed_paths) {
    if (!cannot_change.match(path)) folders.insert(folder_of(path));
  }
  return folders;
}

void PathPrior::learn(const std::vector<Folders>& commits, std::size_t culprit) {
  for (const auto& commit : commits) {
    for (const auto& folder : commit) {
      expected_[folder] += 1.0 / static_cast<double>(commits.size());
    }
  }
  for (const auto& folder : commits.at(culprit)) ++culprits_[folder];
  ++searches_;
}

double PathPrior::weight(const Folders& folders) const {
  double most = folders.empty() ? 1 : 0;
  for (const auto& folder : folders) {
    most = std::max(most, (known(culprits_, folder) + kPseudoCulprits) /
                              (known(expected_, folder) + kPseudoCulprits));
  }
  return most;
}

std::vector<double> PathPrior::weights(const std::vector<Folders>& commits) const {
  std::vector<double> weights;
  for (const auto& commit : commits) weights.push_back(weight(commit));
  const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(weights.size(), 1));
  for (double& weight : weights) weight = std::max(weight / mean, kLeastWeight);
  return weights;
}

std::vector<std::pair<std::string, int>> PathPrior::most_changed(std::size_t count) const {
  std::vector<std::pair<std::string, int>> folders(culprits_.begin(), culprits_.end());
  std::ranges::stable_sort(folders, std::greater{}, &std::pair<std::string, int>::second);
  folders.resize(std::min(count, folders.size()));
  return folders;
}

}  // namespace torchwatch::bisect
