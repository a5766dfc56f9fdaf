#include "torchwatch/past_searches/lead.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "torchwatch/bisect/path_prior.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::past_searches {
namespace {

using bisect::Folders;
using bisection::RevertOutcome;

constexpr int kRowsRead = 200;
/// What a few culprits say may be chance; more than these make no search cheaper
/// (docs/results/search.md).
constexpr int kCulpritsLeast = 5;
constexpr int kCulpritsMost = 20;
/// Reading the paths of a commit takes some milliseconds.
constexpr std::int64_t kCommitsMost = 300;
constexpr std::size_t kFoldersNamed = 3;

/// The searches whose answer a person held for wrong.
std::set<storage::Id> disputed_in(const std::vector<storage::BisectionRow>& rows) {
  std::set<storage::Id> disputed;
  for (const auto& row : rows) {
    const auto dispute = bisection::parse_dispute(row.spec_json);
    if (dispute && *dispute) disputed.insert((*dispute)->bisection);
  }
  return disputed;
}

/// The commit that a search named, where nothing speaks against it.
std::optional<std::string> named_by(const storage::BisectionRow& row) {
  const auto result = bisection::parse_bisection_result(row.result_json);
  if (!result || result->leading() == nullptr) return std::nullopt;
  if (result->leading()->revert == RevertOutcome::change_stays) return std::nullopt;
  return result->culprit();
}

std::vector<Folders> folders_of(const std::vector<bisect::Commit>& commits,
                                const bisect::PathPatterns& cannot_change) {
  std::vector<Folders> folders;
  for (const auto& commit : commits) {
    folders.push_back(bisect::folders_of(commit, cannot_change));
  }
  return folders;
}

/// Takes in a search whose commits the repository still has.
void learn_from(const storage::BisectionRow& row, const std::string& culprit,
                const bisect::PathPatterns& cannot_change, const bisect::CommitHistory& history,
                bisect::PathPrior& prior) {
  const auto count = history.count(row.good, row.bad, kCommitsMost);
  if (!count || !*count) return;
  const auto commits = history.range(row.good, row.bad);
  if (!commits) return;
  std::vector<Folders> suspects;
  std::optional<std::size_t> place;
  for (const auto& commit : *commits) {
    auto folders = bisect::folders_of(commit, cannot_change);
    if (folders.empty()) continue;  // it could not be the culprit
    if (commit.sha == culprit) place = suspects.size();
    suspects.push_back(std::move(folders));
  }
  if (place) prior.learn(suspects, *place);
}

std::string reason_of(const bisect::PathPrior& prior) {
  std::string folders;
  for (const auto& [folder, culprits] : prior.most_changed(kFoldersNamed)) {
    folders += (folders.empty() ? "" : ", ") + folder + " (" + std::to_string(culprits) + ")";
  }
  return "the " + figures::count(static_cast<std::size_t>(prior.searches()), "culprit") +
         " named before changed " + folders;
}

}  // namespace

Result<std::optional<Lead>> lead_among(const std::vector<bisect::Commit>& commits,
                                       const bisect::PathPatterns& cannot_change,
                                       const bisect::CommitHistory& history,
                                       storage::Database& database) {
  TW_TRY(const auto rows, storage::BisectionStore(database).list(kRowsRead));
  const auto disputed = disputed_in(rows);
  bisect::PathPrior prior;
  for (const auto& row : rows) {
    if (prior.searches() == kCulpritsMost) break;
    const auto culprit = named_by(row);
    if (culprit && !disputed.contains(row.id)) {
      learn_from(row, *culprit, cannot_change, history, prior);
    }
  }
  if (prior.searches() < kCulpritsLeast) return std::nullopt;
  auto weights = prior.weights(folders_of(commits, cannot_change));
  const bool says_nothing =
      std::ranges::adjacent_find(weights, std::not_equal_to{}) == weights.end();
  if (says_nothing) return std::nullopt;
  return Lead{.weights = std::move(weights), .reason = reason_of(prior)};
}

}  // namespace torchwatch::past_searches
