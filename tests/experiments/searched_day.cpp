#include "searched_day.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/bisect/candidate_commits.hpp"

namespace torchwatch::experiments {
namespace {

/// The confidence of the answers whose claims are counted.
constexpr double kConfidence = 0.99;

std::vector<std::size_t> verified_set(const bisect::Measure& measure) {
  std::vector<std::size_t> commits;
  for (Place place = place_of(measure.reference) + 1;
       place <= static_cast<Place>(measure.candidate); ++place) {
    commits.push_back(static_cast<std::size_t>(place));
  }
  return commits;
}

/// What the posterior alone claims of a set when it is about to be verified.
void note_belief(DayResult& result, const std::vector<std::size_t>& commits,
                 const std::vector<double>& posterior) {
  const auto is_this = [&](const auto& claim) { return claim.commits == commits; };
  if (std::any_of(result.claims.begin(), result.claims.end(), is_this)) return;
  double mass = 0;
  for (const auto commit : commits) mass += posterior[commit];
  if (mass >= kConfidence) result.claims.push_back({commits, false});
}

void tell(bisect::CulpritSearch& search, const bisect::SearchEvent& event) {
  if (const auto taken = search.apply(event); !taken) {
    throw std::logic_error("the search refuses what it has ordered: " + taken.error().message);
  }
}

/// Builds what the next measurement waits for, as much at once as there are builders.
bool build_next(bisect::CulpritSearch& search, std::size_t builders, DayBuilds& builds) {
  const auto commits = search.next_builds(builders);
  const auto built = builds.build_at_once({commits.begin(), commits.end()});
  for (const auto commit : commits) {
    const bool has_build =
        std::find(built.begin(), built.end(), static_cast<Place>(commit)) != built.end();
    tell(search,
         has_build ? bisect::SearchEvent{bisect::Built{commit}} : bisect::Unbuildable{commit});
  }
  return !commits.empty();
}

/// What is built with equal libraries need not be measured.
void join_equal(bisect::CulpritSearch& search, const DayBuilds& builds) {
  const Day& day = builds.day();
  if (day.idle.empty()) return;
  std::vector<std::optional<std::string>> libraries(day.commits);
  for (Place place = 0; place <= day.last(); ++place) {
    const auto commit = static_cast<std::size_t>(place);
    if (builds.is_tried(place) && !day.unbuildable.contains(commit)) {
      libraries[commit] = day.library(place);
    }
  }
  for (const auto& same : bisect::join_equal(day.library(kGoodEnd), libraries)) tell(search, same);
}

}  // namespace

Place place_of(const bisect::Reference& reference) {
  return reference ? static_cast<Place>(*reference) : kGoodEnd;
}

bisect::SearchEvent carry_out(const bisect::Measure& measure, DayRuns& runs) {
  const Place reference = place_of(measure.reference);
  const auto candidate = static_cast<Place>(measure.candidate);
  if (measure.alone) {
    return bisect::MeasuredAlone{measure.candidate, {{0, runs.run(candidate, measure.pairs)}}};
  }
  std::vector<double> effects;
  std::vector<double> references;
  for (int pair = 0; pair < measure.pairs; ++pair) {
    const bool reference_first = pair % 2 == 0;
    const double first = runs.run(reference_first ? reference : candidate);
    const double second = runs.run(reference_first ? candidate : reference);
    references.push_back(reference_first ? first : second);
    effects.push_back(reference_first ? second - first : first - second);
  }
  return bisect::Measured{measure.candidate, measure.reference, {{0, effects}}, {{0, references}}};
}

DayResult search_day(const bisect::SearchSettings& settings, const bisect::SearchSeries& series,
                     std::size_t builders, DayBuilds& builds, const CarryOut& carry_out,
                     const std::vector<double>& weights) {
  DayResult result;
  double began = cpu_ms();
  auto search = bisect::CulpritSearch::create(settings, {series}, builds.day().commits).value();
  if (!weights.empty()) tell(search, bisect::Weighed{weights});
  bisect::Action action = search.next();
  while (const auto* measure = std::get_if<bisect::Measure>(&action)) {
    if (build_next(search, builders, builds)) {
      join_equal(search, builds);
      action = search.next();
      continue;
    }
    result.cpu_ms += cpu_ms() - began;
    if (measure->purpose == bisect::Purpose::verify_culprit) {
      note_belief(result, verified_set(*measure), search.posterior());
    }
    const auto event = carry_out(*measure);
    began = cpu_ms();
    tell(search, event);
    action = search.next();
  }
  result.cpu_ms += cpu_ms() - began;
  for (const auto& culprit : std::get<bisect::Answer>(action).culprits) {
    result.blamed.push_back(culprit.classes);
    if (culprit.confidence >= kConfidence) result.claims.push_back({culprit.classes, true});
  }
  result.builds = builds.builds();
  result.rounds = builds.rounds();
  return result;
}

double cpu_ms() {
  return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace torchwatch::experiments
