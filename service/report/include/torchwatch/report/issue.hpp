#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Makes a title of at most 200 characters: what got worse, how much, and the culprit if known.
std::string incident_title(const IncidentFacts&);

/// Makes the part of a title that an incident's own series give: "resnet18 cpu-train time +15.2 %".
std::string what_changed(const storage::IncidentRow&);

/// Makes the issue's Markdown with its hidden marker, below GitHub's limit of 65,536 characters. It
/// mentions no person and links no other issue: subjects and shas are quoted as code.
std::string issue_body(const IncidentFacts&);

/// Make the comments on recurrence, recovery and acceptance.
std::string recurrence_comment(const IncidentFacts&);
std::string recovery_comment(const IncidentFacts&);
std::string acceptance_comment(const IncidentFacts&, const std::string& by,
                               const std::string& reason);

/// Make the comments on decisions of people: the incident is open again; the commit named is held
/// for the wrong one; and on what the second search found.
std::string reopening_comment(const std::string& by);
std::string dispute_comment(const std::string& by, const std::string& reason);
std::string second_search_comment(const IncidentFacts&);

/// Makes "<!-- torchwatch-key: ... -->", by which a message is found again.
std::string marker(const std::string& outbox_key);

/// Returns the marker that a message's text ends with, if it has one: what stands further up may be
/// quoted.
std::optional<std::string> marker_in(std::string_view body);

}  // namespace torchwatch::report
