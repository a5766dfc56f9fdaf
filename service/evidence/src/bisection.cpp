#include "torchwatch/evidence/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "drawn.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/wording.hpp"

namespace torchwatch::evidence {
namespace {

using drawing::CommitState;
using report::TraceStep;

/// A commit that was tried, by the place of its class among all.
struct Tried {
  std::string sha;
  bool is_unbuildable = false;
};
using Columns = std::map<std::size_t, Tried>;

bool is_sought(const std::vector<double>& posterior) {
  return std::ranges::any_of(posterior, [](double mass) { return mass > 0; });
}

Columns columns_of(const storage::BisectionRow& row, const std::vector<TraceStep>& steps) {
  Columns columns;
  std::size_t classes = 0;
  for (const auto& step : steps) {
    classes = std::max(classes, step.posterior.size());
    if (!step.place || step.commit.empty()) continue;
    columns[*step.place] = {step.commit, step.kind == bisection::EventKind::unbuildable};
  }
  if (classes > 0) columns.try_emplace(classes - 1, Tried{row.bad});
  return columns;
}

/// The probability of each column: that of its class, and of those before it that were not tried.
std::vector<double> masses_of(const Columns& columns, const std::vector<double>& posterior) {
  std::vector<double> masses;
  std::size_t from = 0;
  for (const auto& [place, tried] : columns) {
    const auto until = std::min(place + 1, posterior.size());
    const auto first = posterior.begin() + static_cast<std::ptrdiff_t>(std::min(from, until));
    const auto last = posterior.begin() + static_cast<std::ptrdiff_t>(until);
    masses.push_back(std::min(std::accumulate(first, last, 0.0), 1.0));
    from = until;
  }
  return masses;
}

/// The change against the good end, where the step measured that of a time.
std::optional<double> ratio_of(const TraceStep& step, const std::string& good) {
  const bool is_to_good = step.kind == bisection::EventKind::measured_alone || step.against == good;
  if (!is_to_good) return std::nullopt;
  const auto time = std::ranges::find_if(step.readings, [](const auto& reading) {
    return bisection::is_relative(reading.series.metric);
  });
  return time == step.readings.end() ? std::nullopt : std::optional(std::exp(time->effect));
}

std::vector<drawing::SearchedCommit> commits_of(const Context& context, const Columns& columns,
                                                const bisection::BisectionResult& result) {
  std::vector<drawing::SearchedCommit> commits;
  std::size_t next = 0;
  for (const auto& [place, tried] : columns) {
    const auto untried = place - next;
    drawing::SearchedCommit commit{.sha = tried.sha,
                                   .link = address_of(context.links.commit, tried.sha),
                                   .untried_before = untried};
    if (untried > 0) {
      commit.subject = "with " + std::to_string(untried) + " before it that " +
                       (untried == 1 ? "was" : "were") + " not tried";
    }
    next = place + 1;
    const auto otherwise = tried.is_unbuildable ? CommitState::unbuildable : CommitState::searched;
    commit.state = state_of(result, tried.sha, otherwise);
    commits.push_back(std::move(commit));
  }
  return commits;
}

std::optional<std::size_t> column_at(const Columns& columns, std::optional<std::size_t> place) {
  if (!place || !columns.contains(*place)) return std::nullopt;
  return static_cast<std::size_t>(std::distance(columns.begin(), columns.find(*place)));
}

}  // namespace

CommitState state_of(const bisection::BisectionResult& result, const std::string& sha,
                     CommitState otherwise) {
  const auto holds = [&sha](const auto& commits) { return std::ranges::count(commits, sha) > 0; };
  const auto culprit = std::ranges::find_if(
      result.culprits, [&holds](const auto& each) { return holds(each.commits); });
  if (culprit != result.culprits.end()) {
    const bool is_named = report::finding_of(*culprit) == report::Finding::named;
    return is_named ? CommitState::culprit : CommitState::suspect;
  }
  return holds(result.suspects) ? CommitState::suspect : otherwise;
}

drawing::PosteriorSteps posterior_steps(const Context& context, const storage::BisectionRow& row,
                                        const std::vector<TraceStep>& steps) {
  const auto columns = columns_of(row, steps);
  // A damaged result keeps nobody from its steps.
  const auto result =
      bisection::parse_bisection_result(row.result_json).value_or(bisection::BisectionResult{});
  drawing::PosteriorSteps drawn{.title = "bisection " + std::to_string(row.id) + ", " +
                                         short_sha(row.good) + " to " + short_sha(row.bad),
                                .commits = commits_of(context, columns, result)};
  for (const auto& step : steps) {
    if (!is_sought(step.posterior)) continue;
    drawn.steps.push_back({.probe = column_at(columns, step.place),
                           .ratio = ratio_of(step, row.good),
                           .masses = masses_of(columns, step.posterior),
                           .why = step.why ? sentence_on(*step.why) : ""});
  }
  return drawn;
}

}  // namespace torchwatch::evidence
