#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns the state's word for people: "accepted" for a closed incident whose change was accepted,
/// else the state's own.
std::string_view state_word(const storage::IncidentRow&);

/// Returns the decision in words, with who really asked where that is known: "disputed by ada (uid
/// 1000) on 2026-08-17 03:04 UTC: it changes a test".
std::string decision_text(const storage::DecisionRow&);

/// Returns the state with who brought it about, when and why, as decision_text; "open since
/// 2026-08-17 03:04 UTC" where nobody did.
std::string state_text(const storage::IncidentRow&);

/// Returns why the runs of a lost benchmark failed, as the comparison that found it says; empty for
/// other incidents. Errors: of storage.
Result<std::string> reason_of_loss(storage::Database&, const storage::IncidentRow&);

/// Says what became of the message that opens an incident's issue: "filed as issue #12".
std::string issue_text(const std::vector<storage::OutboxRow>&);

/// Returns the remark on a comparison: the reason of its end, else what a recheck or a drift
/// comparison goes back to; empty where its purpose says all.
std::string remark_on(const storage::ComparisonRow&);

}  // namespace torchwatch::report
