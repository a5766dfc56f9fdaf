#pragma once

#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// Says how a bisection went, from its stored events. Errors: corrupt, naming the event.
Result<std::vector<report::TraceStep>> trace_of(const storage::BisectionRow&,
                                                const std::vector<storage::BisectionEventRow>&);

/// The same of a stored bisection. Errors: also of storage.
Result<std::vector<report::TraceStep>> trace_of(storage::Database&, const storage::BisectionRow&);

/// Follows the stored events of a bisection once: how it went, and what an open one does next, why,
/// and what it has cost so far. What cannot be read ends it there.
report::SearchReplay replay_of(storage::Database&, const storage::BisectionRow&);

}  // namespace torchwatch::bisection
