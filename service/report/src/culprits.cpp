#include "torchwatch/report/culprits.hpp"

#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

std::vector<CommitFacts> commits_of(const std::vector<std::string>& shas) {
  std::vector<CommitFacts> commits;
  for (const auto& sha : shas) commits.emplace_back().sha = sha;
  return commits;
}

}  // namespace

CulpritFacts cause_of(const bisection::NamedCulprit& culprit) {
  CulpritFacts cause;
  cause.commits = commits_of(culprit.commits);
  cause.revert = culprit.revert;
  if (culprit.revert != bisection::RevertOutcome::change_stays)
    cause.confidence = culprit.confidence;
  cause.verified = culprit.verified;
  for (const auto& effect : culprit.effects) cause.effects.push_back(effect_of(effect));
  return cause;
}

std::vector<CulpritFacts> causes_of(const storage::BisectionRow& row) {
  const auto result = bisection::parse_bisection_result(row.result_json);
  if (!result) return {};
  std::vector<CulpritFacts> causes;
  for (const auto& culprit : result->culprits) causes.push_back(cause_of(culprit));
  if (result->suspects.empty()) return causes;
  auto& suspects = causes.emplace_back();
  suspects.commits = commits_of(result->suspects);
  suspects.confidence = result->suspects_confidence;
  return causes;
}

}  // namespace torchwatch::report
