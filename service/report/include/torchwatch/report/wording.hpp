#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// How far a search got. Issues, pages and the command line say it in the same words.
enum class Finding {
  named,          ///< one commit, with 99 % or more, and measured against the commit before it
  likely,         ///< one commit, with less, not measured so, or contradicted by its revert
  set,            ///< one of several commits, which cannot be distinguished
  none,           ///< no commit
  not_reproduced  ///< the builds made here do not differ
};

/// Returns how far a search got with one cause.
Finding finding_of(const CulpritFacts&);
Finding finding_of(const bisection::NamedCulprit&);
/// Returns how far a search got as a whole: with its leading cause, if it found one.
Finding finding_of(const BisectionFacts&);

/// Returns the heading above what was found: "Culprit", "Most likely culprit", ...
std::string_view heading_of(Finding);

/// Says what speaks against a culprit, in a sentence; empty where nothing does.
std::string_view doubt_text(bisection::RevertOutcome);
/// The same in a list, where a probability would stand.
inline constexpr std::string_view kInDoubt = "in doubt: its revert leaves the change";

/// "one of 3 commits".
std::string one_of_text(std::size_t commits);

/// Says who did what, and how far that is known: `who` may be empty, `what` is "2 workloads
/// slower". Both are Markdown or plain text, as the result is: "`33de6cd` most likely made 2
/// workloads slower".
std::string claim_text(Finding, const std::string& who, const std::string& what);

}  // namespace torchwatch::report
