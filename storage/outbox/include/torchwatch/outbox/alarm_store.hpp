#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What should have come and did not, the verdict on a planted slowdown among it.
enum class AlarmCause { no_nightly, no_verdict, no_delivery, no_self_test, missed_drill };
std::string_view to_string(AlarmCause);

/// The service's own lack of data. At most one is open for each cause.
struct AlarmRow {
  Id id = 0;
  AlarmCause cause = AlarmCause::no_nightly;
  WallMillis since = 0;  ///< the data is missing
  WallMillis raised_at = 0;
  WallMillis ended_at = 0;  ///< 0: it is open
  std::optional<std::int64_t> issue_number;
};

/// When data came last, as far as it did.
struct DataTimes {
  std::optional<WallMillis> first_nightly;  ///< found by the channel
  std::optional<WallMillis> last_nightly;
  std::optional<WallMillis> last_comparison;  ///< opened, for any purpose
  /// The oldest nightly that came after the last one with verdicts, and has none.
  std::optional<WallMillis> without_verdict;
  std::optional<WallMillis> last_self_test;  ///< judged
  /// The first of the drills that missed their slowdown since one found it.
  std::optional<WallMillis> missed_drill;
  std::optional<WallMillis> undelivered;    ///< since when an incident's issue cannot be filed
  std::optional<WallMillis> last_delivery;  ///< of a message to the tracker
};

/// Alarms and what they are about. Thread-safe as Database is.
class AlarmStore {
 public:
  explicit AlarmStore(Database& database) : database_(database) {}

  Result<DataTimes> times();
  Result<std::vector<AlarmRow>> open();  ///< the oldest first
  /// Stores an alarm with the message that opens its issue, of which key, title and body count.
  /// Errors: conflict (its cause has an open alarm).
  Result<AlarmRow> raise(const AlarmRow&, const OutboxRow& message);
  /// Ends an open alarm, with the comment that closes its issue. Errors: conflict (it has ended).
  Status end(const AlarmRow&, const OutboxRow& message, WallMillis now);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
