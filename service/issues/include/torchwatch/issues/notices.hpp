#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

// What is said besides an incident's first text: what became of it, at its culprit's pull request,
// in one issue for many incidents, in one for a month. All foreign text is quoted.

/// What became of an incident, for the line above its issue's text.
std::string state_found_again(const std::string& build);
std::string state_gone(const std::string& build);
std::string state_decided(const storage::DecisionRow&, const std::string& by);
std::string state_searched_again();

/// Returns the text with that line above it, in the place of the one that it had.
std::string with_state(const std::string& body, const std::string& state);

/// Returns the text with the marker that `filed`, the text of the issue, ends with.
std::string with_marker_of(const std::string& body, const std::string& filed);

/// Returns whether the largest change has grown to more than one and a half times what it was.
bool has_grown(const storage::IncidentRow& before, const IncidentFacts& now);

/// Makes the short comment on a commit that is named after the issue was opened.
std::string naming_comment(const IncidentFacts&);

/// Makes the comment on the pull request of one of the incident's culprits, without the link to the
/// issue: what that commit was measured to do, and what was found as a whole.
std::string pull_comment(const IncidentFacts&, const CulpritFacts&);
/// Returns the number of the pull request that a commit's subject ends with: "(#99231)". Digits
/// only; empty where there is none.
std::string pull_of(std::string_view subject);
/// Adds a line in front of the marker: "The issue: owner/name#12."
std::string with_issue_link(const std::string& body, const std::string& repository,
                            std::int64_t issue);

/// An incident that has no issue of its own.
struct ListedIncident {
  std::string title;
  std::string page;  ///< empty: nobody reaches it
};
std::string umbrella_title(std::size_t incidents, const std::string& build);
std::string umbrella_body(const std::vector<ListedIncident>&, const std::string& build,
                          int issues_per_night);

/// A series that got faster or smaller.
struct Improvement {
  std::string build;  ///< the first that had it
  EffectFacts effect;
};
/// `month`: "2026-05".
std::string digest_title(std::size_t improvements, const std::string& month);
std::string digest_body(std::vector<Improvement>, const std::string& month);

}  // namespace torchwatch::report
