#pragma once

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Queues the comment with which the issue of an accepted incident is closed. Call inside the
/// transaction that accepts it.
Status queue_acceptance(comparison::Services&, const storage::IncidentRow&,
                        const storage::Acceptance&);

/// What a person decided about an incident.
enum class Decision { reopened, disputed };

/// Errors: invalid, when the name of who decides, or the reason, is blank.
Status require_name_and_reason(const std::string& by, const std::string& reason,
                               std::string_view what);

/// Queues the comment that says so on the incident's issue. Call inside the transaction that
/// changes the incident.
Status queue_decision(comparison::Services&, const storage::IncidentRow&, Decision,
                      const std::string& by, const std::string& reason);

/// Queues the comment on what the second search of a disputed incident found.
Status queue_second_search(comparison::Services&, const storage::IncidentRow&,
                           storage::Id bisection);

/// bisected -> reported: gives each incident its title, queues a message for each and a comment on
/// those of earlier comparisons that are there again or gone, and opens what follows a nightly; all
/// in the transaction that ends the comparison. Errors: of storage, of the facts.
Result<storage::ComparisonRow> report_comparison(comparison::Services&,
                                                 const comparison::Comparison&);

}  // namespace torchwatch::nightly
