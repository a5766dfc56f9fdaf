#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Comparisons of the newest nightlies in the order in which they follow one another, whenever they
/// were compared.
struct NewestNightly {
  std::optional<storage::ComparisonRow> known;   ///< of the newest nightly, whatever its state
  std::optional<storage::ComparisonRow> judged;  ///< of the newest nightly that has a result
};

/// The places of builds (BuildRow::place), by their id.
using Places = std::map<storage::Id, std::int64_t>;

/// Finds them among the nightly comparisons, given newest first: the newest nightly is the one
/// whose candidate has the last place; of its comparisons the newest counts. Pure.
NewestNightly newest_nightly(const std::vector<storage::ComparisonRow>&, const Places&);

/// Reads the newest comparisons and finds them there. Errors: those of storage.
Result<NewestNightly> newest_nightly(storage::Database&);

/// Returns those of the newest nightlies that are rejected or cannot be measured, oldest first:
/// each is said for as long as it is one of the newest five that are known. Errors: those of
/// storage.
Result<std::vector<storage::BuildRow>> left_out_nightlies(storage::Database&);

/// Why a build is left out.
const std::string& reason_of(const storage::BuildRow&);

}  // namespace torchwatch::report
