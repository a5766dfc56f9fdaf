#include "torchwatch/site/stages.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/site/parts.hpp"

namespace torchwatch::pages {
namespace {

using storage::ComparisonState;

const std::vector<std::string> kOfComparison{"discover", "prepare", "measure",
                                             "judge",    "search",  "report"};
const std::vector<std::string> kOfSearch{"compare the ends", "narrow down", "verify",
                                         "look for more"};

/// The place of the stage that a comparison of that state is in; nothing at its end.
std::optional<std::size_t> stage_behind(ComparisonState state) {
  switch (state) {
    case ComparisonState::discovered:
      return 1;
    case ComparisonState::ready:
      return 2;
    case ComparisonState::measured:
      return 3;
    case ComparisonState::judged:
      return 4;
    case ComparisonState::bisected:
      return 5;
    default:
      return std::nullopt;
  }
}

/// The place of the stage that a search is in.
std::size_t stage_of(const std::vector<report::TraceStep>& steps) {
  using bisect::Purpose;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->kind == bisection::EventKind::reverted) return 2;
    if (!step->purpose) continue;
    if (*step->purpose == Purpose::verify_ends) return 0;
    return *step->purpose == Purpose::probe ? 1 : *step->purpose == Purpose::verify_culprit ? 2 : 3;
  }
  return 0;
}

/// "; it will probably end at 2026-11-21 05:12 UTC, in nine of ten cases by 2026-11-21 06:40 UTC".
std::string end_text(const evidence::Estimate& left, const View& view) {
  constexpr double kSecond = 1000;
  if (left.at_most <= 0) return "; nine of ten such ones had ended by now";
  const auto at = [&](double seconds) {
    const auto later = static_cast<storage::WallMillis>(std::llround(seconds * kSecond));
    return platform::date_and_minute(view.sources.clock.wall_now() + later) + " UTC";
  };
  return "; it will probably end at " + at(left.likely) + ", in nine of ten cases by " +
         at(left.at_most);
}

html::Fragment bar(const std::vector<std::string>& names, std::size_t at, std::string_view of,
                   const std::string& more) {
  const auto said = "Stage " + std::to_string(at + 1) + " of " + std::to_string(names.size()) +
                    " of the " + std::string(of) + ", " + names[at] + more + ".";
  return html::paragraph(html::text(said)) +
         html::stages("Stages of the " + std::string(of), names, at);
}

}  // namespace

html::Fragment stages_of(const evidence::Progress& progress, const View& view) {
  const auto at = stage_behind(progress.comparison.state);
  if (!at) return {};
  std::string more;
  if (progress.benchmarks_planned > 0) {
    more = ": " + std::to_string(progress.benchmarks_begun) + " of " +
           std::to_string(progress.benchmarks_planned) + " benchmarks begun, " +
           figures::count(static_cast<std::size_t>(progress.runs_done), "run") + " done";
  }
  const auto& left = progress.left;
  const bool is_at_work = view.service_now.doing.comparison == progress.comparison.id;
  if (left && is_at_work) more += end_text(*left, view);
  if (left && !is_at_work) {
    more += "; it waits, and then takes about " + figures::duration(left->likely) +
            ", in nine of ten cases at most " + figures::duration(left->at_most);
  }
  return bar(kOfComparison, *at, "comparison", more);
}

html::Fragment stages_of(const storage::BisectionRow& row,
                         const std::optional<evidence::Estimate>& whole, const View& view) {
  const auto& replay_of = view.sources.replay_of;
  const auto steps = replay_of ? replay_of(row).steps : std::vector<report::TraceStep>();
  auto more = ": " + figures::count(steps.size(), "step") + " done";
  if (whole) {
    const auto elapsed = seconds_between(row.created_at, view.sources.clock.wall_now());
    more += end_text(evidence::left_of(*whole, elapsed), view);
  }
  return bar(kOfSearch, stage_of(steps), "search", more);
}

}  // namespace torchwatch::pages
