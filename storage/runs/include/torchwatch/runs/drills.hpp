#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

// Drills: builds compared with themselves, one side slowed down on purpose. Errors are those of
// storage.

/// What came of slowdowns that were planted in the time of a benchmark.
struct DrillTally {
  int planted = 0;  ///< number of verdicts
  int found = 0;
  int inconclusive = 0;  ///< too noisy to tell
  int missed() const { return planted - found - inconclusive; }
};

/// Returns a tally of all judged drills.
Result<DrillTally> drills(Database&);
/// Returns a tally of those on a machine.
Result<DrillTally> drills_on(Database&, Id machine);
/// Returns the drill that was opened last.
Result<std::optional<Id>> last_drill(Database&);
/// Returns the newest comparison of that purpose that came to its end with verdicts.
Result<std::optional<Id>> newest_reported(Database&, Purpose);

}  // namespace torchwatch::storage
