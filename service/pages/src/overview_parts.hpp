#pragma once

#include <optional>
#include <vector>

#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/report/unread.hpp"
#include "torchwatch/site/view.hpp"

namespace torchwatch::pages {

// Parts of the overview that need more than a few lines.

/// Says when the next nightly is expected and when an alarm comes without one: "The last 7 were
/// found between 09:12 and 11:40 UTC, ...". Nothing of what is not known. Errors: those of storage.
Result<html::Fragment> expectation_of_nightly(const storage::DataTimes&, const View&);

/// Says what does not work, or that all is well; below it when the service last showed that it
/// works: its disk, its newest self-test and drill, its newest delivery. What of it cannot be read
/// is noted. Errors: those of storage.
Result<html::Fragment> health_of_service(const storage::DataTimes&, const View&, report::Unread&);

/// When nightlies usually come, in minutes after midnight UTC; past midnight the latest may be
/// less than the earliest.
struct UsualTime {
  int earliest = 0;
  int middle = 0;  ///< the median
  int latest = 0;
  std::size_t count = 0;  ///< of what came
};

/// Returns the usual time of day of what came at those times; nothing for fewer than three, and
/// where they spread over more than half of a day. What came within an hour of the one before, as
/// after a pause, counts once. Pure.
std::optional<UsualTime> usual_time(std::vector<storage::WallMillis> came);

}  // namespace torchwatch::pages
