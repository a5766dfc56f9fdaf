#pragma once

#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/alarm_store.hpp"

namespace torchwatch::daemon {

/// Data that should have come.
struct MissingData {
  storage::AlarmCause cause = storage::AlarmCause::no_nightly;
  storage::WallMillis since = 0;
};

/// Returns what is missing for longer than [alarm] allows. `started`: when the service began to
/// look, for what never came. Pure.
std::vector<MissingData> missing_data(const storage::DataTimes&, const config::Config&,
                                      storage::WallMillis started, storage::WallMillis now);

/// Raises an alarm, with its issue, for what is missing, and ends those whose data came again.
/// Returns the open ones. Errors: those of storage.
Result<std::vector<storage::AlarmRow>> update_alarms(Application&, storage::WallMillis started);

}  // namespace torchwatch::daemon
