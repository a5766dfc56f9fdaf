#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::filing {

// The messages of one incident, queued.

/// Queues the message that opens the incident's issue.
Status queue_open(comparison::Services&, const storage::IncidentRow&, report::IncidentFacts);

/// Returns the issue as the queued messages make it: number and key of the first, title and text of
/// the newest. Nothing before there is one.
Result<std::optional<storage::OutboxRow>> issue_of(comparison::Services&,
                                                   const storage::IncidentRow&);

/// Queues an edit of the issue, unless it would change nothing.
Status queue_edit(comparison::Services&, const storage::OutboxRow& issue, const std::string& title,
                  const std::string& body);

/// Queues what is done at the culprit's own places: a comment on its pull request, and the issue
/// assigned to its author. Each once for an incident, and only for commits that are named.
Status tell_culprits(comparison::Services&, const storage::IncidentRow&,
                     const report::IncidentFacts&);

}  // namespace torchwatch::filing
