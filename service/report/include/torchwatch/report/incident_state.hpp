#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// The one word for people: "accepted" where somebody takes the change as it is, which the store
/// counts among the closed; else the state's own.
std::string_view state_word(const storage::IncidentRow&);

/// {"by", "reason", "at"}, the time as ISO 8601 in UTC; null where nobody accepted.
nlohmann::json json_of(const std::optional<storage::Acceptance>&);

}  // namespace torchwatch::report
