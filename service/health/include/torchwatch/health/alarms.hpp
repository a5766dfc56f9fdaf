#pragma once

#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"

namespace torchwatch::health {

/// Data that should have come.
struct MissingData {
  storage::AlarmCause cause = storage::AlarmCause::no_nightly;
  storage::WallMillis since = 0;
};

/// Returns what is missing for longer than [alarm] allows. `started`: when the service began to
/// look, for what never came. Pure.
std::vector<MissingData> missing_data(const storage::DataTimes&, const config::Config&,
                                      storage::WallMillis started, storage::WallMillis now);

/// What alarms are looked for with; it must outlive the call.
struct AlarmParts {
  storage::Database& database;
  const platform::Clock& clock;
  platform::Random& random;
  const config::Config& config;
};

/// Raises an alarm, with its issue, for what is missing, and ends those whose data came again.
/// Errors: those of storage.
Status update_alarms(const AlarmParts&, storage::WallMillis started);

}  // namespace torchwatch::health
