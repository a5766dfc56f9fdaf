#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// Effects are additive: ln(candidate / reference) for times, a difference in bytes otherwise.
bool is_relative(Metric);

/// An additive effect with its 99 % interval: ln(candidate / reference) for times, bytes otherwise.
struct SeriesEffect {
  Series series;
  double effect = 0;
  double low = 0;
  double high = 0;
  int pairs = 0;
  bool operator==(const SeriesEffect&) const = default;
};

/// What a bisection ended with.
enum class BisectionOutcome {
  found,              ///< every change has its culprit
  partly_found,       ///< some have; the reason says what is left
  not_told_apart,     ///< a limit or noise ended the search; the suspects, if any, hold the culprit
  did_not_reproduce,  ///< the ends do not differ
  nothing_to_search,  ///< no commit can be searched
  faulted,            ///< the recipe fails, whatever the commit
};

/// What taking a culprit out of the newest commit showed.
enum class RevertOutcome {
  not_tried,
  impossible,    ///< it conflicts, or what is left does not build or run
  change_gone,   ///< less than half of each change is left
  change_stays,  ///< more than half of a change is left: the culprit is contradicted
  inconclusive,  ///< too noisy to tell whether more or less is left
};

/// A commit, or the few that cannot be distinguished, that made a change.
struct NamedCulprit {
  std::vector<std::string> commits;  ///< several: those that cannot be distinguished
  std::string parent;                ///< the nearest earlier commit that builds
  double confidence = 0;  ///< of the search alone, whatever the revert showed; 0: not stated, as
                          ///< where nothing else could have made the change
  std::vector<SeriesEffect> effects;
  std::string verified;  ///< how, in words
  RevertOutcome revert = RevertOutcome::not_tried;
  bool operator==(const NamedCulprit&) const = default;
};

/// Returns the cause that is named first, which is the largest; null without causes.
template <typename Cause>
const Cause* leading(const std::vector<Cause>& causes) {
  return causes.empty() ? nullptr : &causes.front();
}

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
  int builds = 0;          ///< of commits between the ends; the ends and reverts are built too
  int made_elsewhere = 0;  ///< of the builds: by somebody else, not by the recipe
  int runs = 0;            ///< without those that measured a revert
  std::vector<SkippedBuild> skipped;
  std::string reason;
  bool operator==(const BisectionResult&) const = default;

  /// Null without culprits.
  const NamedCulprit* leading() const { return bisection::leading(culprits); }
  /// Returns the commit of the leading culprit, if it is one.
  std::optional<std::string> culprit() const;
  /// Returns the commits of all culprits that are one commit, the largest first.
  std::vector<std::string> single_commits() const;
};

/// Makes the members that are stored, and printed: beside those of the result what its leading
/// culprit is.
nlohmann::json json_of(const BisectionResult&);
std::string to_json(const BisectionResult&);
/// Errors: corrupt.
Result<BisectionResult> parse_bisection_result(std::string_view json);

/// What a stored event (BisectionEventRow::kind) says has happened.
enum class EventKind {
  weighed,         ///< which commits are looked at first
  measured,        ///< pairs of two builds
  measured_alone,  ///< runs of one build
  built,
  unbuildable,
  set_aside,     ///< a build counts no longer, as it was made elsewhere and another one was not
  same_library,  ///< two commits cannot be distinguished
  series_lost,   ///< a series is searched no further
  level_lost,    ///< the machine has changed
  reverted,      ///< a culprit was taken out of the newest commit
};

/// Why a search is carried out again: a person holds the commit that it named for the wrong one.
struct Dispute {
  storage::Id bisection = 0;  ///< the search that named it
  std::string by;
  std::string reason;
  storage::WallMillis at = 0;
  bool operator==(const Dispute&) const = default;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Dispute, bisection, by, reason, at)
/// Reads the dispute that a bisection's specification (BisectionRow::spec_json) holds; nothing
/// where it holds none, or is not an object. Errors: corrupt.
Result<std::optional<Dispute>> parse_dispute(std::string_view spec_json);

}  // namespace torchwatch::bisection

namespace torchwatch {

template <>
struct Words<bisection::BisectionOutcome> {
  using enum bisection::BisectionOutcome;
  static constexpr std::string_view kKind = "outcome of a bisection";
  static constexpr std::array kAll{Word{found, "found"},
                                   Word{partly_found, "partly_found"},
                                   Word{not_told_apart, "not_told_apart"},
                                   Word{did_not_reproduce, "did_not_reproduce"},
                                   Word{nothing_to_search, "nothing_to_search"},
                                   Word{faulted, "faulted"}};
};

template <>
struct Words<bisection::RevertOutcome> {
  using enum bisection::RevertOutcome;
  static constexpr std::string_view kKind = "outcome of a revert";
  static constexpr std::array kAll{Word{not_tried, "not_tried"}, Word{impossible, "impossible"},
                                   Word{change_gone, "change_gone"},
                                   Word{change_stays, "change_stays"},
                                   Word{inconclusive, "inconclusive"}};
};

template <>
struct Words<bisection::EventKind> {
  using enum bisection::EventKind;
  static constexpr std::string_view kKind = "kind of an event";
  static constexpr std::array kAll{Word{weighed, "weighed"},
                                   Word{measured, "measured"},
                                   Word{measured_alone, "measured_alone"},
                                   Word{built, "built"},
                                   Word{unbuildable, "unbuildable"},
                                   Word{set_aside, "set_aside"},
                                   Word{same_library, "same_library"},
                                   Word{series_lost, "series_lost"},
                                   Word{level_lost, "level_lost"},
                                   Word{reverted, "reverted"}};
};

}  // namespace torchwatch
