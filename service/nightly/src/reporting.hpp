#pragma once

#include <string>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Returns a title that names what changed, from the verdicts alone.
Result<std::string> title_of(comparison::Services&, const storage::ComparisonRow&,
                             const storage::IncidentRow&);

/// Queues a comment on an open incident that `comparison` found again. Call inside the transaction
/// that stores the verdicts.
Status queue_recurrence(comparison::Services&, const storage::ComparisonRow& comparison,
                        const storage::IncidentRow&);

/// Queues the comment with which a closed incident's issue is closed. Call inside the transaction
/// that closes it.
Status queue_recovery(comparison::Services&, const storage::ComparisonRow& recheck,
                      const storage::IncidentRow&);

/// Queues the comment with which the issue of an accepted incident is closed. Call inside the
/// transaction that accepts it.
Status queue_acceptance(comparison::Services&, const storage::IncidentRow&,
                        const storage::Acceptance&);

/// bisected -> reported: queues one message per incident and opens what follows a nightly, in the
/// transaction that ends the comparison. Errors: of storage, of the facts.
Result<storage::ComparisonRow> report_comparison(comparison::Services&,
                                                 const comparison::Comparison&);

}  // namespace torchwatch::nightly
