#include "search_answer.hpp"

#include <algorithm>
#include <cmath>

#include "gates.hpp"

namespace torchwatch::bisect {
namespace {

Effect effect_of(const Evidence& evidence, std::size_t series, Span span, const Gate& gate) {
  const Estimate estimate = evidence.direct(span);
  const double half = evidence.half_width(estimate);
  return {.series = series,
          .effect = estimate.centre,
          .low = estimate.centre - half,
          .high = estimate.centre + half,
          .pairs = estimate.count,
          .shows = judge(estimate, gate) == EffectState::shows};
}

/// The series whose ends differ, also those that are lost since.
std::vector<Change> shown_at_ends(const SearchRecord& record) {
  std::vector<Change> changes;
  for (std::size_t series = 0; series < record.series_count(); ++series) {
    const Evidence& evidence = record.evidence(series);
    const Estimate whole = evidence.direct(record.whole());
    if (judge(whole, ends_gate(evidence)) == EffectState::shows) {
      changes.push_back({series, whole.centre});
    }
  }
  return changes;
}

/// Whether noise hides if the ends of a series differ.
bool are_ends_left_open(const SearchRecord& record) {
  for (std::size_t series = 0; series < record.series_count(); ++series) {
    const Evidence& evidence = record.evidence(series);
    if (record.lost(series)) continue;
    if (is_left_open(evidence.direct(record.whole()), ends_gate(evidence))) return true;
  }
  return false;
}

/// The readings of a place alone, as a change against the good end.
Estimate alone_estimate(const Evidence& evidence, Place place) {
  const auto readings = evidence.alone();
  const auto found = readings.find(place);
  if (found == readings.end()) return {};
  auto estimate = centre_of(found->second, evidence.alone_scale());
  estimate.error = std::hypot(estimate.error, evidence.level_error());
  return estimate;
}

Culprit culprit_of(const SearchRecord& record, const Group& group) {
  Culprit culprit{
      .classes = {}, .parent = reference_of(group.parent), .confidence = group.mass, .effects = {}};
  for (Place place = group.first; place <= group.last; ++place) {
    if (record.prior(place) > 0) culprit.classes.push_back(static_cast<std::size_t>(place));
  }
  const Span span{group.parent, group.last};
  for (const auto& change : shown_at_ends(record)) {
    const Evidence& evidence = record.evidence(change.series);
    if (evidence.direct(span).count == 0) continue;
    const Gate gate = culprit_gate(evidence, change.size, 1);
    culprit.effects.push_back(effect_of(evidence, change.series, span, gate));
    // What was measured since may have raised the noise; it does not take back what was decided.
    if (group.proven_by == change.series) culprit.effects.back().shows = true;
  }
  return culprit;
}

/// The largest part that the culprit has in the change of any series.
double share_of(const Culprit& culprit, const SearchRecord& record) {
  double share = 0;
  for (const auto& effect : culprit.effects) {
    const double whole = record.evidence(effect.series).direct(record.whole()).centre;
    share = std::max(share, effect.effect / whole);
  }
  return share;
}

/// Whether a reproduced change has no culprit in which it shows.
bool is_unexplained(const Change& change, const std::vector<Culprit>& culprits) {
  return std::none_of(culprits.begin(), culprits.end(), [&](const Culprit& culprit) {
    return std::any_of(culprit.effects.begin(), culprit.effects.end(), [&](const Effect& effect) {
      return effect.series == change.series && effect.shows;
    });
  });
}

Outcome outcome_of(const SearchRecord& record, const Answer& answer, bool is_limited) {
  if (record.last() < 0) return Outcome::nothing_to_search;
  const auto changes = shown_at_ends(record);
  if (changes.empty() && !is_limited) {
    return are_ends_left_open(record) ? Outcome::not_told_apart : Outcome::did_not_reproduce;
  }
  if (answer.culprits.empty()) return Outcome::not_told_apart;
  const bool is_left = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return is_unexplained(change, answer.culprits);
  });
  return is_limited || is_left || !answer.suspects.empty() ? Outcome::partly_found : Outcome::found;
}

/// The classes that cannot be built, or of which no series can be measured any more.
std::vector<std::size_t> skipped(const SearchRecord& record) {
  std::vector<std::size_t> places;
  for (Place place = 0; place <= record.last(); ++place) {
    bool is_read = false;
    for (std::size_t series = 0; series < record.series_count(); ++series) {
      is_read = is_read || record.can_read(series, place);
    }
    if (!is_read) places.push_back(static_cast<std::size_t>(place));
  }
  return places;
}

std::string reason_of(const Answer& answer, const std::string& limit) {
  switch (answer.outcome) {
    case Outcome::nothing_to_search:
      return "No commit of the range can change the library.";
    case Outcome::did_not_reproduce:
      return "Measured again side by side, the two ends do not differ.";
    case Outcome::found:
      return "Each culprit was measured against the commit before it that builds.";
    case Outcome::partly_found:
      return limit.empty() ? "A part of the change could not be traced to a commit." : limit;
    case Outcome::not_told_apart:
      return limit.empty() ? "Measured again side by side, the two ends scatter too much to say "
                             "whether they differ."
                           : limit;
  }
  return limit;
}

}  // namespace

std::vector<Change> reproduced(const SearchRecord& record) {
  auto changes = shown_at_ends(record);
  std::erase_if(changes, [&](const Change& change) { return record.lost(change.series); });
  return changes;
}

std::vector<ExplainedStep> steps_of(const std::vector<Group>& found, const SearchRecord& record) {
  constexpr double kClear = 2.5;
  std::vector<ExplainedStep> steps;
  for (const auto& group : found) {
    ExplainedStep step{group.last, {}};
    for (std::size_t series = 0; series < record.series_count(); ++series) {
      Estimate size = record.evidence(series).direct({group.parent, group.last});
      if (size.count == 0) continue;
      if (std::abs(size.centre) < kClear * size.error) size.centre = 0;
      step.sizes.emplace(series, size);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Answer answer_of(const SearchRecord& record, const std::vector<Group>& found,
                 const std::vector<GivenUp>& given_up, std::string limit) {
  Answer answer;
  if (!shown_at_ends(record).empty()) {
    for (const auto& group : found) answer.culprits.push_back(culprit_of(record, group));
  }
  std::stable_sort(answer.culprits.begin(), answer.culprits.end(),
                   [&](const Culprit& a, const Culprit& b) {
                     return share_of(a, record) > share_of(b, record);
                   });
  if (!given_up.empty()) {
    answer.suspects = given_up.front().suspects;
    answer.suspects_confidence = given_up.front().confidence;
    if (limit.empty()) limit = given_up.front().reason;
  }
  for (std::size_t series = 0; series < record.series_count(); ++series) {
    const Evidence& evidence = record.evidence(series);
    if (record.last() < 0 || evidence.direct(record.whole()).count == 0) continue;
    answer.ends.push_back(effect_of(evidence, series, record.whole(), ends_gate(evidence)));
  }
  answer.builds = record.builds().count();
  answer.runs = record.runs();
  answer.skipped = skipped(record);
  answer.outcome = outcome_of(record, answer, !limit.empty());
  answer.reason = reason_of(answer, limit);
  return answer;
}

Effect effect_read(const SearchRecord& record, std::size_t series, const Measure& measure) {
  const auto& evidence = record.evidence(series);
  const auto place = static_cast<Place>(measure.candidate);
  const Span span{place_of(measure.reference), place};
  const auto estimate = measure.alone ? alone_estimate(evidence, place) : evidence.direct(span);
  if (estimate.count == 0) return {};
  const double half = evidence.half_width(estimate);
  return {.series = series,
          .effect = estimate.centre,
          .low = estimate.centre - half,
          .high = estimate.centre + half,
          .pairs = estimate.count};
}

}  // namespace torchwatch::bisect
