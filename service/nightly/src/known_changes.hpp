#pragma once

#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// What of a comparison's change is known already.
struct KnownChanges {
  std::vector<storage::Id> incidents;            ///< open ones that the change belongs to
  std::vector<storage::IncidentSeriesRow> rest;  ///< its series that are in none of them
};

/// Returns which open incidents may be the change of these series. An incident may be if it is of
/// the same kind, has one of the series, and came between the comparison's builds: what both builds
/// have already is not what makes them differ. An incident whose builds span the comparison's
/// leaves no rest: a series at the gate must not make a second incident of one change. Changes of
/// outputs always may be: outputs that are as they were differ from the changed ones, too. Errors:
/// of storage.
Result<KnownChanges> known_changes(comparison::Services&, const storage::ComparisonRow&,
                                   const storage::IncidentRow& found);

}  // namespace torchwatch::nightly
