#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::report {

// What a bisection's steps and result say in words, from facts.

/// How a culprit was verified.
struct VerificationFacts {
  std::string parent;     ///< sha of the build it was measured against
  int pairs = 0;          ///< the most that any of its series was measured with
  bool are_fresh = true;  ///< none of these pairs made the commit suspect
  std::string makers;     ///< "both made elsewhere", where that has to be said
  bisection::RevertOutcome revert = bisection::RevertOutcome::not_tried;
  std::string revert_problem;  ///< why reverting was impossible, or does not tell
  std::string revert_change;   ///< "resnet18 cpu-train time +14.9 %"; empty: not measured
};

/// Says how a culprit was verified: "against 1a2b3c4d5e6f, the commit before it that builds, ...".
std::string verification_text(const VerificationFacts&);

/// Says how many commits between the ends have builds, and how many of these somebody else made: "9
/// builds between the ends (4 of them made elsewhere)".
std::string builds_text(int builds, int made_elsewhere);

/// What a step measured of one series: the median change against the other side of its pairs, or,
/// for a build alone, against what the good end had read by then (ln of a ratio for times, else
/// bytes).
struct TraceReading {
  Series series;
  double effect = 0;
  int readings = 0;
};

/// Why a step was the next one to do, as the search reckoned before it.
struct StepReason {
  bisect::Purpose purpose = bisect::Purpose::probe;
  /// The probability that a culprit that is verified lies between the two sides.
  double mass = 0;
  std::optional<bisect::ProbeReason> probe = {};  ///< of a probe, and of a build for one
  std::string most_even = {};  ///< the commit of `probe->most_even`; empty: it has no build
  bool is_beside = false;      ///< built at once with the commit that is measured next
};

/// Says it in a sentence without its end: "with 52 % the culprit is this commit or an earlier one,
/// and it is built: 0.61 bits expected of 2 runs, the most for its cost".
std::string sentence_on(const StepReason&);

/// One thing that happened in a bisection, with commits in the place of classes.
struct TraceStep {
  bisection::EventKind kind = bisection::EventKind::measured;
  std::optional<bisect::Purpose> purpose;  ///< of a measurement, and of the build of an end
  std::string commit;
  std::string against;       ///< the other side of the pairs
  bool is_good_end = false;  ///< of a build
  std::vector<TraceReading> readings;
  std::string reason;  ///< why a commit has no build, who else made it, why a series was lost, ...
  /// The probability that the culprit is one of the commits behind `after` up to `up_to`, which are
  /// then the likeliest stretch between builds; 0 while no culprit is looked for.
  double probability = 0;
  std::string after;
  std::string up_to;
  std::optional<std::size_t>
      place;                      ///< of the commit's class, from the oldest; of builds, readings
  std::vector<double> posterior;  ///< after a measurement: of each class to have the culprit
  /// Nothing for what follows from another step, and where the search cannot be followed any more.
  std::optional<StepReason> why = {};
};

/// What a search that has not ended does next, and what it has cost.
struct SearchOutlook {
  std::optional<TraceStep> next = {};  ///< a measurement without readings; nothing: it ends
  std::size_t commits = 0;             ///< that can have the culprit
  bool needs_build = false;            ///< of `next`
  bisect::Spent spent = {};
  int builds_max = 0;
  int runs_max = 0;
  int commits_left = 0;  ///< about how many more are tried; 0 while no culprit is looked for
};

/// A search as its stored events tell it, followed once for all that is said of it.
struct SearchReplay {
  std::vector<TraceStep> steps = {};
  /// For an open one; nothing before its ends are measured, and where it cannot be followed.
  std::optional<SearchOutlook> outlook = {};
  /// Why `steps` end before an event that cannot be read, and nothing is said of what comes next.
  std::optional<Error> damage = {};
};

/// Says to everybody what of a search cannot be read and what says why: "Only its first 2 steps can
/// be read, and not what comes next: `torchwatch bisection show 7` says why". Empty where all can.
std::string unread_text(const SearchReplay&, const storage::BisectionRow&);

/// Says what comes next, and why.
std::string sentence_on(const SearchOutlook&);

/// Says in words what a step did and what it showed: "measured 1a2b3c4d5e6f against 5e6f1a2b3c4d".
std::string sentence_on(const TraceStep&);

/// Makes a step's members, with its sentence.
nlohmann::json json_of(const TraceStep&);

}  // namespace torchwatch::report
