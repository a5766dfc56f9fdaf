#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"

namespace torchwatch::heard {

/// Returns the mutes that hold at that time for any of the series, oldest first. Errors: of
/// storage.
Result<std::vector<storage::MuteRow>> mutes_of(storage::Database&, const std::vector<Series>&,
                                               storage::WallMillis now);
/// The same for what an incident reports.
Result<std::vector<storage::MuteRow>> mutes_of(storage::Database&, const storage::IncidentRow&,
                                               storage::WallMillis now);

/// "dlrm/cpu-train until 2026-12-01 00:00 UTC by ada: known upstream".
std::string mute_text(const storage::MuteRow&);
/// "closed by ada on 2026-11-20 10:00 UTC: not_planned", of what was done to an issue.
std::string event_text(const storage::TrackerEventRow&);

/// The same for machines, as service/api/openapi.json describes them. `asked_by` is null for
/// strangers.
nlohmann::json json_of(const storage::MuteRow&, storage::WallMillis now, bool is_trusted);
nlohmann::json json_of(const storage::TrackerEventRow&);

}  // namespace torchwatch::heard
