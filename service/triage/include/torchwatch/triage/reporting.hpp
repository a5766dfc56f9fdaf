#pragma once

#include <string>
#include <string_view>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::triage {

/// Errors: invalid, when the name of who decides, or the reason where one is needed, is blank.
Status require_name(const std::string& by, std::string_view what);
Status require_name_and_reason(const std::string& by, const std::string& reason,
                               std::string_view what);

/// Returns the same services without the repository, which belongs to the pipeline's thread: for
/// decisions, which people make on others, and which name no commit.
comparison::Services without_history(const comparison::Services&);

/// Queues what a decision of a person means for the incident's issue: a comment, and whether the
/// issue is open; and the line above its text. Call with the incident as it was before,
/// inside the transaction that changes it.
Status queue_decision(comparison::Services&, const storage::IncidentRow& before,
                      const storage::DecisionRow&);

/// Opens the issues of a comparison's incidents while they are still searched, where [github]
/// file_when asks for that. Call inside the transaction that opens the incidents.
Status file_at_once(comparison::Services&, const comparison::Comparison&);

/// Queues, once, the comment on what the second search of a disputed incident found, and brings its
/// issue up to date.
Status queue_second_search(comparison::Services&, const storage::IncidentRow&,
                           storage::Id bisection);

/// Gives each incident of a comparison its title, files what [github] lets through, and queues a
/// comment on those of earlier comparisons that are there again or gone. Call inside the
/// transaction that ends the comparison. Errors: of storage, of the facts.
Status queue_messages(comparison::Services&, const comparison::Comparison&);

}  // namespace torchwatch::triage
