#include "probe_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "information.hpp"

namespace torchwatch::bisect {
namespace {

/// A class is valued by what n readings of it would tell, but read once at a time: after
/// each, another class may have become the better one.
constexpr std::array kReadings{1, 2, 4, 8};

/// Below this many bits a measurement is not worth its runs: what is left is not distinguished.
constexpr double kLeastInformation = 1e-4;

/// A class has been read enough when its centre is known within this part of the spread between
/// builds of like code.
constexpr double kKnownWithin = 0.8;

Span span_of(const Measure& measure) {
  return {place_of(measure.reference), static_cast<Place>(measure.candidate)};
}

/// Commits that do not build come in stretches. A class next to one fails with this probability;
/// it falls by e with every kStretch classes of distance (figures of a simulation).
constexpr double kNeighbourFails = 0.66;
constexpr double kStretch = 3;

double chance_to_build(Place place, const SearchRecord& record) {
  if (record.builds().is_built(place)) return 1;
  double distance = 1e9;
  for (const Place broken : record.builds().broken()) {
    distance = std::min(distance, std::abs(static_cast<double>(place) - broken));
  }
  return 1 - kNeighbourFails * std::exp(-(distance - 1) / kStretch);
}

/// Spread of one reading of a class: a run alone, or a pair.
double scale_of_reading(const Evidence& evidence, const Change& change, bool alone) {
  return alone ? alone_scale(evidence, change.size) : likelihood_scale(evidence, change.size);
}

/// Separation of good and bad in the mean of n readings of one class, in standard deviations.
double separation(const Evidence& evidence, const Change& change, bool alone, int readings) {
  if (readings == 0) return 0;
  const double scale = scale_of_reading(evidence, change, alone);
  const double shared = std::hypot(evidence.build_spread(), alone ? evidence.level_error() : 0);
  return change.size / std::hypot(error_of(scale, readings), shared);
}

/// Whether the readings of a class, taken together, scatter less than builds of like code do: then
/// further ones tell more of this build, and nothing of its code.
bool is_known(const Evidence& evidence, const Change& change, bool alone, int readings) {
  if (readings == 0 || evidence.build_spread() <= 0) return false;
  const double scale = scale_of_reading(evidence, change, alone);
  return error_of(scale, readings) < kKnownWithin * evidence.build_spread();
}

/// What further readings add to the square of the separation: the less, the more there are, where
/// all of a class have a deviation in common.
double separation_gained(const Evidence& evidence, const Change& change, const Measure& measure,
                         int readings) {
  const int known = measure.alone ? evidence.count_alone(static_cast<Place>(measure.candidate))
                                  : evidence.count(span_of(measure));
  if (is_known(evidence, change, measure.alone, known)) return 0;
  return std::pow(separation(evidence, change, measure.alone, known + readings), 2) -
         std::pow(separation(evidence, change, measure.alone, known), 2);
}

/// A class that could be read, before it is looked at closely.
struct Question {
  Measure measure;
  double bad = 0;    ///< probability that the class is at or behind the culprit
  double limit = 0;  ///< bits per cost that it cannot exceed
};

struct Choice {
  double value = 0;  ///< bits per cost
  std::optional<Measure> measure;
  double bits = 0;
  int runs = 0;  ///< of the readings that it is valued by
};

/// Tries every number of series and readings for one class.
void consider(Choice& best, Measure measure, double probability, const Problem& problem,
              const SearchRecord& record) {
  const auto place = static_cast<Place>(measure.candidate);
  const double chance = chance_to_build(place, record);
  std::array<double, kReadings.size()> squares{};  // of the separations, added up over the series
  measure.series.clear();
  for (const auto& change : problem.changes) {
    if (measure.alone && !record.has_level(change.series)) continue;
    if (!record.can_read(change.series, place)) continue;
    if (!measure.alone && !record.can_read(change.series, place_of(measure.reference))) continue;
    measure.series.push_back(change.series);
    if (!is_affordable(measure, record)) break;
    for (std::size_t i = 0; i < kReadings.size(); ++i) {
      const int readings = kReadings[i];
      squares[i] += separation_gained(record.evidence(change.series), change, measure, readings);
      const double bits = information(probability, std::sqrt(squares[i]));
      const double builds = record.settings().build_cost * builds_needed(measure, record);
      const double cost = builds + readings * runs_needed(measure);
      const double value = bits * chance / cost;
      if (bits < kLeastInformation || value <= best.value) continue;
      best = {value, measure, bits, readings * runs_needed(measure)};
    }
  }
}

/// The pairs with the problem's first build that read a class.
Measure pairs_of(Place candidate, const Problem& problem) {
  Measure measure;
  measure.candidate = static_cast<std::size_t>(candidate);
  measure.reference = reference_of(problem.span.from);
  measure.purpose = Purpose::probe;
  return measure;
}

Measure without_partner(Measure measure) {
  measure.alone = true;
  measure.reference = {};
  return measure;
}

ProbeWorth worth_of(const Measure& measure, double bad, const Choice& choice,
                    const SearchRecord& record) {
  return {.candidate = measure.candidate,
          .bad = bad,
          .bits = choice.bits,
          .runs = choice.runs,
          .builds = builds_needed(measure, record),
          .chance = chance_to_build(static_cast<Place>(measure.candidate), record)};
}

/// A class with the probability that the culprit lies at it or before it.
struct Split {
  Place place = 0;
  double bad = 0;
};

/// Those of the classes that can be read between the problem's ends.
std::vector<Split> splits_of(const Problem& problem, const std::vector<Group>& groups) {
  std::vector<Split> splits;
  double bad = 0;
  for (const auto& group : groups) {
    bad += group.mass;
    if (group.last == problem.span.to) break;
    splits.push_back({group.last, bad});
  }
  return splits;
}

}  // namespace

int runs_needed(const Measure& measure) {
  return (measure.alone ? 1 : 2) * measure.pairs * static_cast<int>(measure.series.size());
}

int builds_needed(const Measure& measure, const SearchRecord& record) {
  const bool reference = !record.builds().is_built(place_of(measure.reference));
  const bool candidate = !record.builds().is_built(static_cast<Place>(measure.candidate));
  return int{reference} + int{candidate};
}

bool is_affordable(const Measure& measure, const SearchRecord& record) {
  const int builds = builds_needed(measure, record);
  const auto& settings = record.settings();
  return (builds == 0 || record.builds().attempts() + builds <= settings.builds_max) &&
         record.runs() + runs_needed(measure) <= settings.runs_max;
}

std::optional<Measure> choose_probe(const Problem& problem, const SearchRecord& record,
                                    const std::vector<Group>& groups) {
  std::vector<Question> questions;
  for (const auto [place, bad] : splits_of(problem, groups)) {
    const double bits = entropy(bad);  // as if a single reading of one series told everything
    if (bits < kLeastInformation) continue;
    const auto measure = pairs_of(place, problem);
    const double builds = record.settings().build_cost * builds_needed(measure, record);
    questions.push_back({measure, bad, bits / (builds + 1)});
  }
  // The most promising first: then a long day's other classes need no closer look.
  std::stable_sort(questions.begin(), questions.end(),
                   [](const Question& a, const Question& b) { return a.limit > b.limit; });
  Choice best;
  double chance_tried = 0;  // of a class without a build: of several the most promising is best
  for (const auto& question : questions) {
    if (question.limit <= best.value) break;
    const auto place = static_cast<Place>(question.measure.candidate);
    if (!record.builds().is_built(place)) {
      const double chance = chance_to_build(place, record);
      if (chance <= chance_tried) continue;
      chance_tried = chance;
    }
    consider(best, question.measure, question.bad, problem, record);
    if (!problem.trusts_alone) continue;
    consider(best, without_partner(question.measure), question.bad, problem, record);
  }
  return best.measure;
}

std::optional<ProbeReason> reason_of_probe(const Measure& measure, const Problem& problem,
                                           const SearchRecord& record,
                                           const std::vector<Group>& groups) {
  const auto splits = splits_of(problem, groups);
  const auto own = std::ranges::find(splits, static_cast<Place>(measure.candidate), &Split::place);
  if (own == splits.end()) return std::nullopt;
  Choice chosen;
  consider(chosen, measure, own->bad, problem, record);
  ProbeReason reason{.chosen = worth_of(measure, own->bad, chosen, record),
                     .build_cost = record.settings().build_cost};
  const auto even =
      std::ranges::max_element(splits, {}, [](const Split& split) { return entropy(split.bad); });
  if (entropy(even->bad) <= entropy(own->bad)) return reason;
  Choice other;
  const auto pairs = pairs_of(even->place, problem);
  consider(other, pairs, even->bad, problem, record);
  if (problem.trusts_alone) consider(other, without_partner(pairs), even->bad, problem, record);
  reason.most_even = worth_of(other.measure.value_or(pairs), even->bad, other, record);
  return reason;
}

}  // namespace torchwatch::bisect
