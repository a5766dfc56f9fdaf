#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Makes a title of at most 80 characters: kind, how much, by which commit if that is known, what,
/// and since when: "[perf] +17 % time by 33de6cd: 2 workloads, cpu-train, 2026-06-17".
std::string incident_title(const IncidentFacts&);

/// Makes the part of a title that an incident's own series give: "[perf] +15 % time: resnet18,
/// cpu-train".
std::string what_changed(const storage::IncidentRow&);

/// Returns whether its search named a commit, also beside larger causes that it could not decide.
bool names_a_commit(const IncidentFacts&);

/// Makes the issue's Markdown with its hidden marker, of at most 20,000 bytes: sections that do not
/// fit are left out, with a note. It mentions nobody but whom the configuration names and links no
/// other issue: subjects are quoted as code, links are made of hex digits and the configured
/// address. It says how it is answered in a comment, by commands that begin with the prefix;
/// without one nobody reads comments.
std::string issue_body(const IncidentFacts&, const std::string& command_prefix = {});

/// Make the comments on recurrence, recovery and acceptance.
std::string recurrence_comment(const IncidentFacts&, bool has_grown = false);
std::string recovery_comment(const IncidentFacts&);
std::string acceptance_comment(const IncidentFacts&, const std::string& by,
                               const std::string& reason);

/// Make the comments on decisions of people: the incident is closed, or open again (`reason` may be
/// empty); the commit named is held for the wrong one; and on what the second search found.
std::string closing_comment(const std::string& by, const std::string& reason);
std::string reopening_comment(const std::string& by, const std::string& reason);
std::string dispute_comment(const std::string& by, const std::string& reason);
std::string second_search_comment(const IncidentFacts&);

/// Makes "<!-- torchwatch-key: ... -->", by which a message is found again.
std::string marker(const std::string& outbox_key);

/// Ends a message's text with its marker. With a random `secret` nobody can guess it, so an issue
/// that holds it is ours: the key alone is public before the issue is.
std::string with_marker(const std::string& text, const std::string& outbox_key,
                        const std::string& secret);

/// Returns the marker that a message's text ends with, if it has one: what stands further up may be
/// quoted.
std::optional<std::string> marker_in(std::string_view body);

}  // namespace torchwatch::report
