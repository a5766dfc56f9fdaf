#pragma once

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Queues the comment with which the issue of an accepted incident is closed. Call inside the
/// transaction that accepts it.
Status queue_acceptance(comparison::Services&, const storage::IncidentRow&,
                        const storage::Acceptance&);

/// bisected -> reported: gives each incident its title, queues a message for each and a comment on
/// those of earlier comparisons that are there again or gone, and opens what follows a nightly; all
/// in the transaction that ends the comparison. Errors: of storage, of the facts.
Result<storage::ComparisonRow> report_comparison(comparison::Services&,
                                                 const comparison::Comparison&);

}  // namespace torchwatch::nightly
