#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// How much has not ended, by state. A state of which there is none is left out.
struct OpenCounts {
  using ByState = std::map<std::string, std::int64_t>;
  ByState comparisons;
  ByState incidents;  ///< open or acknowledged
  ByState messages;   ///< of the outbox, not sent
  ByState requests;
  std::optional<WallMillis> last_nightly_ended_at;  ///< of the newest nightly that has ended
};

/// Counts what is open. Reads only that, so its cost does not grow with the history.
Result<OpenCounts> open_counts(Database&);

}  // namespace torchwatch::storage
