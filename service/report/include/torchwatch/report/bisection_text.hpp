#pragma once

#include <string>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::report {

using torchwatch::short_sha;

// What a bisection's result says in words, from facts.

/// What became of reverting a culprit on top of the bad end.
enum class RevertOutcome { not_tried, impossible, change_gone, change_stays };

/// How a culprit was verified.
struct VerificationFacts {
  std::string parent;  ///< sha of the build it was measured against
  int pairs = 0;       ///< the most that any of its series was measured with
  RevertOutcome revert = RevertOutcome::not_tried;
  std::string revert_problem;  ///< why reverting was impossible
  std::string revert_change;   ///< "resnet18 cpu-train time +14.9 %"; empty: not measured
};

/// Says how a culprit was verified: "against 1a2b3c4d5e6f, the commit before it that builds, ...".
std::string verification_text(const VerificationFacts&);

/// Says that an end of the range ("good", "bad") cannot be built.
std::string unbuildable_end_text(const std::string& end, const std::string& sha,
                                 const std::string& reason);

/// Says that the recipe failed for `commits` commits in a row.
std::string failing_recipe_text(int commits, const std::string& last_reason);

/// Says how many commits between the ends have builds, and how many of these somebody else made: "9
/// builds between the ends (4 of them made elsewhere)".
std::string builds_text(int builds, int made_elsewhere);

/// Says that a screening of the suite found nothing to search for.
std::string nothing_worse_text();

}  // namespace torchwatch::report
