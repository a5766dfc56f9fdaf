#pragma once

#include <string>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// "2.1 ms -> 2.4 ms" and the like: a value of a metric for people.
std::string human_value(Metric, double value);
/// "+15.2 % [+13.1, +17.4]"; for a leak "+4,096 bytes/iteration".
std::string human_effect(const EffectFacts&);

/// "+15.2 %", or "x6.80" from a doubling on.
std::string human_ratio(double ratio);

/// One line, at most 200 characters: what got worse, how much, and the culprit where one is known.
std::string incident_title(const IncidentFacts&);

/// The issue's Markdown with its hidden marker, below GitHub's limit of 65,536 characters. Nothing
/// in it mentions a person or another issue by a live link: subjects and shas are quoted as code.
std::string issue_body(const IncidentFacts&);

/// The comments on recurrence, on recovery and on somebody's taking it as it is.
std::string recurrence_comment(const IncidentFacts&);
std::string recovery_comment(const IncidentFacts&);
std::string acceptance_comment(const IncidentFacts&, const std::string& by,
                               const std::string& reason);

/// "<!-- torchwatch-key: ... -->", by which a message is found again.
std::string marker(const std::string& outbox_key);

}  // namespace torchwatch::report
