#pragma once

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::triage {

/// Gathers everything known of an incident for its texts, with the builds and verdicts of the
/// comparison. Errors: not_found and corrupt (stored rows).
Result<report::IncidentFacts> incident_facts(comparison::Services&, const storage::IncidentRow&,
                                             const comparison::Comparison&);

/// Adds what only the issue says: how long it takes to measure again, how commits named before
/// held, what the incident rests on, drawn, and the traces of both builds. Samples that are damaged
/// keep no issue back: the log says that they are left out. Errors: those of storage.
Status add_history(comparison::Services&, const storage::ComparisonRow& comparison,
                   const storage::IncidentRow&, report::IncidentFacts&);

/// Gathers the same of a bisection: commits with subjects, authors and files where [source] knows
/// them.
report::BisectionFacts bisection_facts(const comparison::Services&, const storage::BisectionRow&,
                                       const bisection::BisectionResult&);

/// Gathers what [source] knows of a commit: subject, author, login, date, files. `history` may be
/// null. A commit that it lacks has its sha alone.
report::CommitFacts commit_facts(const bisect::CommitHistory* history, const std::string& sha);

/// Returns the secrets that a process which is confined by nothing could have read, to be kept out
/// of what it printed.
std::vector<std::string> secrets_of(const config::Config&);

}  // namespace torchwatch::triage
