#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/report/facts.hpp"

namespace torchwatch::bisection {

/// An additive effect with its 99 % interval: ln(candidate / reference) for times, bytes otherwise.
struct SeriesEffect {
  Series series;
  double effect = 0;
  double low = 0;
  double high = 0;
  int pairs = 0;
  bool operator==(const SeriesEffect&) const = default;
};

/// Returns the effect as people read it, a ratio or a difference: a bisection knows changes, not
/// values.
report::EffectFacts effect_facts(const SeriesEffect&);

/// What a bisection ended with.
enum class BisectionOutcome {
  found,              ///< every change has its culprit
  partly_found,       ///< some have; the reason says what is left
  not_told_apart,     ///< a budget ended the search; the suspects hold the culprit
  did_not_reproduce,  ///< the ends do not differ
  nothing_to_search,  ///< no commit can be searched
  faulted,            ///< the recipe fails, whatever the commit
};
/// Returns the one spelling, as stored: "did_not_reproduce".
std::string_view to_string(BisectionOutcome);
/// Errors: corrupt, for a word that is no outcome.
Result<BisectionOutcome> parse_bisection_outcome(std::string_view);

/// A commit, or the few that cannot be told apart, that made a change.
struct NamedCulprit {
  std::vector<std::string> commits;  ///< several: those that cannot be told apart
  std::string parent;                ///< the nearest earlier commit that builds
  double confidence = 0;
  std::vector<SeriesEffect> effects;
  std::string verified;  ///< how, in words
  bool operator==(const NamedCulprit&) const = default;
};

struct SkippedBuild {
  std::string commit;
  std::string reason;
  bool operator==(const SkippedBuild&) const = default;
};

/// What a bisection ended with, as stored (BisectionRow::result_json) and printed by `bisect
/// --json`.
struct BisectionResult {
  BisectionOutcome outcome = BisectionOutcome::found;
  std::vector<NamedCulprit> culprits;  ///< largest share of the change first
  std::vector<std::string> suspects;   ///< the smallest set that holds an unfound culprit
  double suspects_confidence = 0;
  std::vector<SeriesEffect> ends;  ///< bad end against good end
  int commits = 0;
  int folded = 0;
  int builds = 0;          ///< of commits between the ends, which are built too
  int made_elsewhere = 0;  ///< of the builds: by somebody else, not by the recipe
  int runs = 0;
  std::vector<SkippedBuild> skipped;
  std::string reason;
  bool operator==(const BisectionResult&) const = default;

  /// Returns the culprit that stands for all: the largest that is one commit, else the largest;
  /// null without culprits.
  const NamedCulprit* leading() const;
  /// Returns the commit of the leading culprit, if it is one.
  std::optional<std::string> culprit() const;
};

std::string to_json(const BisectionResult&);
Result<BisectionResult> parse_bisection_result(std::string_view json);

}  // namespace torchwatch::bisection
