#pragma once

#include <functional>
#include <string>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::filing {

// Call all of these inside the transaction of the change that they report. Errors: of storage, and
// of the facts.

/// Gathers what is known of an incident.
using FactsOf = std::function<Result<report::IncidentFacts>(const storage::IncidentRow&)>;

/// Opens the issues of a comparison that was judged, where [github] file_when is at_once: the
/// largest changes, up to the cap.
Status file_at_once(comparison::Services&, const storage::ComparisonRow&, const FactsOf&);

/// Decides at the end of a comparison about each of its incidents: opens its issue; brings the one
/// that it has up to date, with a comment if a commit is named; lists it in the umbrella issue of
/// those beyond the cap; or notes why it has none. Gives each its title.
Status file_incidents(comparison::Services&, const storage::ComparisonRow&, const FactsOf&);

/// Brings an incident's issue up to date with a later search, and opens it if that search lets it
/// through.
Status refile(comparison::Services&, const storage::IncidentRow&, const FactsOf&);

/// Queues a message that follows the one which opens the incident's issue. An incident without an
/// issue has nothing to say there.
Status follow_up(comparison::Services&, const storage::IncidentRow&, storage::OutboxKind,
                 const std::string& key, const std::string& text);

/// Makes the line above an issue's text say what became of the incident (`issues/notices.hpp`).
Status set_state(comparison::Services&, const storage::IncidentRow&, const std::string& state);

}  // namespace torchwatch::filing
