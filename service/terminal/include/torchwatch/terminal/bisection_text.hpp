#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// What a bisection says about the cause, in brief.
struct Cause {
  std::string culprit;    ///< "33de6cd2393f Warm up twice", "one of 3 commits"; empty: none
  double confidence = 0;  ///< 0 without a culprit
};
/// Returns the leading cause. `history` gives subjects; null where no repository is at hand.
Cause cause_of(const bisection::BisectionResult&, const bisect::CommitHistory* history);

/// What a bisection was asked about.
struct AskedCommits {
  std::string good;     ///< the older end, as it is shown: a short sha or a build's name
  std::string bad;      ///< the newer end, likewise
  std::string suspect;  ///< empty: none was named
};

/// Prints what a bisection found: the culprit, how sure, the effects, what was skipped, and the
/// cost.
void print(std::ostream&, const bisection::BisectionResult&, const bisect::CommitHistory* history,
           const AskedCommits&, const Screen&);

/// Prints the trace as a numbered list, for an engineer who checks it.
void print(std::ostream&, const std::vector<report::TraceStep>&, const Screen&);

}  // namespace torchwatch::terminal
