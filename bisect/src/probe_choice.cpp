#include "probe_choice.hpp"

#include <array>
#include <cmath>

#include "information.hpp"

namespace torchwatch::bisect {
namespace {

constexpr std::array kPairs{1, 2, 4, 8};

/// Below this many bits a measurement is not worth its runs: what is left cannot be told apart.
constexpr double kLeastInformation = 1e-4;

/// Commits that do not build come in stretches: a class next to one is likely to be another
/// (figures of the design's simulation).
double chance_to_build(Place place, const SearchRecord& record) {
  if (record.is_built(place)) return 1;
  double distance = 1e9;
  for (const Place broken : record.broken()) {
    distance = std::min(distance, std::abs(static_cast<double>(place) - broken));
  }
  return 1 - 0.66 * std::exp(-(distance - 1) / 3);
}

/// Separation of good and bad in the mean of some pairs of the target, in standard deviations.
double separation(const Evidence& evidence, const Change& change, int pairs) {
  const double error = error_of(likelihood_scale(evidence, change.size), pairs);
  return change.size / std::hypot(error, evidence.build_spread());
}

struct Choice {
  double value = 0;  ///< bits per cost
  std::optional<Measure> measure;
};

/// Tries every number of targets and pairs for one class.
void consider(Choice& best, Measure measure, double probability, const Problem& problem,
              const SearchRecord& record) {
  const auto place = static_cast<Place>(measure.candidate);
  const double chance = chance_to_build(place, record);
  std::array<double, kPairs.size()> squares{};  // of the separations, added up over the targets
  measure.targets.clear();
  for (const auto& change : problem.changes) {
    measure.targets.push_back(change.target);
    for (std::size_t i = 0; i < kPairs.size(); ++i) {
      const int pairs = kPairs[i];
      squares[i] += std::pow(separation(record.evidence(change.target), change, pairs), 2);
      measure.pairs = pairs;
      if (!is_affordable(measure, record)) continue;
      const double bits = information(probability, std::sqrt(squares[i]));
      const double runs = 2.0 * pairs * static_cast<double>(measure.targets.size());
      const double cost = record.settings().build_cost * builds_needed(measure, record) + runs;
      const double value = bits * chance / cost;
      if (bits < kLeastInformation || value <= best.value) continue;
      best = {value, measure};
    }
  }
}

}  // namespace

int builds_needed(const Measure& measure, const SearchRecord& record) {
  const bool reference = !record.is_built(place_of(measure.reference));
  const bool candidate = !record.is_built(static_cast<Place>(measure.candidate));
  return int{reference} + int{candidate};
}

bool is_affordable(const Measure& measure, const SearchRecord& record) {
  const int builds = builds_needed(measure, record);
  const int runs = 2 * measure.pairs * static_cast<int>(measure.targets.size());
  const auto& settings = record.settings();
  return (builds == 0 || record.build_attempts() + builds <= settings.builds_max) &&
         record.runs() + runs <= settings.runs_max;
}

std::optional<Measure> choose_probe(const Problem& problem, const SearchRecord& record,
                                    const std::vector<Group>& groups) {
  Choice best;
  double bad = 0;  // probability that the class is at or behind the culprit
  for (const auto& group : groups) {
    bad += group.mass;
    if (group.last == problem.span.to) break;
    Measure measure;
    measure.candidate = static_cast<std::size_t>(group.last);
    measure.reference = reference_of(problem.span.from);
    measure.purpose = Purpose::probe;
    consider(best, measure, bad, problem, record);
  }
  return best.measure;
}

}  // namespace torchwatch::bisect
