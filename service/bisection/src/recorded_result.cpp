#include "recorded_result.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/bisection/early_end.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::bisection {
namespace {

BisectionOutcome outcome_of(bisect::Outcome outcome) {
  switch (outcome) {
    case bisect::Outcome::found:
      return BisectionOutcome::found;
    case bisect::Outcome::partly_found:
      return BisectionOutcome::partly_found;
    case bisect::Outcome::not_told_apart:
      return BisectionOutcome::not_told_apart;
    case bisect::Outcome::did_not_reproduce:
      return BisectionOutcome::did_not_reproduce;
    case bisect::Outcome::nothing_to_search:
      return BisectionOutcome::nothing_to_search;
  }
  return BisectionOutcome::faulted;
}

int folded_count(const RecordedSearch& recorded) {
  return std::max(recorded.commit_count() - static_cast<int>(recorded.class_count()), 0);
}

std::vector<SeriesEffect> effects_of(const std::vector<bisect::Effect>& effects,
                                     const BisectionSpec& spec) {
  std::vector<SeriesEffect> result;
  for (const auto& effect : effects) {
    result.push_back({.series = spec.series.at(effect.series).series,
                      .effect = effect.effect,
                      .low = effect.low,
                      .high = effect.high,
                      .pairs = effect.pairs});
  }
  return result;
}

RevertOutcome outcome_of(const RevertCheck* check) {
  if (check == nullptr) return RevertOutcome::not_tried;
  // What was not measured contradicts nobody.
  if (check->effects.empty()) return RevertOutcome::impossible;
  if (!check->reason.empty()) return RevertOutcome::inconclusive;
  return check->gone ? RevertOutcome::change_gone : RevertOutcome::change_stays;
}

/// What the culprit changes on the newest commit, in the series of which the smallest part goes
/// with it.
std::string revert_change(const RevertCheck& check, const bisect::Culprit& culprit,
                          const BisectionSpec& spec) {
  std::string text;
  double least = INFINITY;
  for (const auto& effect : culprit.effects) {
    const auto measured = check.effects.find(effect.series);
    if (measured == check.effects.end() || measured->second / effect.effect >= least) continue;
    least = measured->second / effect.effect;
    const auto& series = spec.series.at(effect.series).series;
    const auto change = report::change_text(
        report::effect_of(SeriesEffect{.series = series, .effect = measured->second}));
    text = to_string(series) + " " + (change.empty() ? "no change" : change);
  }
  return text;
}

report::VerificationFacts verification_of(const bisect::Culprit& culprit,
                                          const RecordedSearch& recorded,
                                          const BisectionSpec& spec) {
  const auto* check = recorded.revert_of(culprit.classes.back());
  report::VerificationFacts facts;
  facts.parent = recorded.sha_of(culprit.parent);
  for (const auto& effect : culprit.effects) facts.pairs = std::max(facts.pairs, effect.pairs);
  facts.are_fresh = is_freshly_verified(recorded, culprit.classes.back(), culprit.parent);
  if (recorded.made_elsewhere() > 0) {
    const auto origin = recorded.origin_of(culprit.parent).value_or("");
    facts.makers = origin.empty() ? "both built by the recipe" : "both made elsewhere";
  }
  facts.revert = outcome_of(check);
  if (check != nullptr) facts.revert_problem = check->reason;
  if (check != nullptr) facts.revert_change = revert_change(*check, culprit, spec);
  return facts;
}

NamedCulprit named(const bisect::Culprit& culprit, const RecordedSearch& recorded,
                   const BisectionSpec& spec) {
  NamedCulprit result;
  for (const auto candidate : culprit.classes) {
    result.commits.push_back(recorded.commit_of(candidate));
  }
  result.parent = recorded.sha_of(culprit.parent);
  // With one candidate it is 1 whatever was measured. Shares that are added up may exceed 1 by
  // their rounding.
  if (recorded.class_count() > 1) result.confidence = std::min(culprit.confidence, 1.0);
  result.effects = effects_of(culprit.effects, spec);
  result.verified = report::verification_text(verification_of(culprit, recorded, spec));
  result.revert = outcome_of(recorded.revert_of(culprit.classes.back()));
  return result;
}

bool are_named(const std::vector<std::size_t>& candidates, const RecordedSearch& recorded) {
  return std::ranges::none_of(
      candidates, [&](std::size_t candidate) { return recorded.commit_of(candidate).empty(); });
}

/// Whether builds of one maker have shown it, and its commits are known.
bool is_confirmed(const bisect::Culprit& culprit, const RecordedSearch& recorded) {
  return are_named(culprit.classes, recorded) &&
         recorded.unlike(culprit.classes.back(), culprit.parent).empty();
}

}  // namespace

BisectionResult result_of(const bisect::Answer& answer, const RecordedSearch& recorded,
                          const BisectionSpec& spec) {
  BisectionResult result;
  result.outcome = outcome_of(answer.outcome);
  result.reason = answer.reason;
  const auto why_dropped = why_all_dropped(recorded, spec.series.size());
  if (!why_dropped.empty() && answer.outcome != bisect::Outcome::found) {
    result.reason = "An end of the range cannot be measured any more: " + why_dropped;
  }
  result.commits = recorded.commit_count();
  result.folded = folded_count(recorded);
  for (const auto& culprit : answer.culprits) {
    result.culprits.push_back(named(culprit, recorded, spec));
  }
  for (const auto candidate : answer.suspects) {
    result.suspects.push_back(recorded.commit_of(candidate));
  }
  result.suspects_confidence = std::min(answer.suspects_confidence, 1.0);
  result.ends = effects_of(answer.ends, spec);
  result.builds = answer.builds;
  result.made_elsewhere = recorded.made_elsewhere();
  result.runs = answer.runs;
  for (const auto candidate : answer.skipped) {
    result.skipped.push_back({recorded.commit_of(candidate), recorded.reason_of(candidate)});
  }
  return result;
}

BisectionResult result_of(EarlyEnd end, const RecordedSearch& recorded, const BisectionSpec& spec) {
  auto now = recorded.answer_now(spec, end.reason + std::string(kConfirmedBefore));
  auto answer = now ? *std::move(now) : bisect::Answer();
  std::erase_if(answer.culprits,
                [&](const auto& culprit) { return !is_confirmed(culprit, recorded); });
  if (!are_named(answer.suspects, recorded)) answer.suspects.clear();
  if (!answer.culprits.empty()) {
    answer.outcome = bisect::Outcome::partly_found;
    return result_of(answer, recorded, spec);
  }
  BisectionResult result;
  result.outcome = end.outcome;
  result.reason = std::move(end.reason);
  result.commits = recorded.commit_count();
  result.folded = folded_count(recorded);
  return result;
}

}  // namespace torchwatch::bisection
