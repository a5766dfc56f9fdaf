#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns the state's word for people: "accepted" for a closed incident whose change was accepted,
/// else the state's own.
std::string_view state_word(const storage::IncidentRow&);

/// Says what became of the message that opens an incident's issue: "filed as issue #12".
std::string issue_text(const std::vector<storage::OutboxRow>&);

/// Returns the remark on a comparison: the reason of its end, else what a recheck or a drift
/// comparison goes back to; empty where its purpose says all.
std::string remark_on(const storage::ComparisonRow&);

}  // namespace torchwatch::report
