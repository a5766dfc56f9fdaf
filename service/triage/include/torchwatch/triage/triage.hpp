#pragma once

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/triage/decisions.hpp"

namespace torchwatch::triage {

// What people ask for about incidents, comparisons and searches, thread-safe beside the pipeline.

/// Notes that the commit which a search named is wrong, comments so on the incident's issue unless
/// it was said there, and opens the same search again, on fresh measurements; the decision's time
/// is now. Returns the new bisection. Errors: invalid (no name or no reason), not_found, conflict
/// (the incident is closed, its comparison has not ended, or its search named nobody).
Result<storage::BisectionRow> dispute_incident(comparison::Services&, storage::Id incident,
                                               const storage::Decision&, Telling = Telling::issue);

/// The recheck that an incident waits for.
struct Retest {
  storage::ComparisonRow comparison;
  bool is_new = false;  ///< else it was due already
};

/// Opens a recheck of the incident's series, unless one is due: the newest nightly that can be
/// measured, or else the incident's own candidate, against the last good build. If nothing is left,
/// the incident is closed. Errors: not_found, conflict (the incident is closed, or its comparison
/// has not ended).
Result<Retest> retest_incident(comparison::Services&, storage::Id incident);

/// Ends a comparison that has not ended, and stops what is done for it at present: the attempt in
/// flight is given up, runs that have ended stay. Errors: not_found, conflict (it has ended).
Status cancel_comparison(comparison::Services&, storage::Id comparison, const storage::Asker&);

/// Ends a bisection that has not ended, likewise. Its incident is reported with the culprits that
/// were confirmed by then, or without one.
/// Errors: not_found, conflict (it has ended).
Status cancel_bisection(comparison::Services&, storage::Id bisection, const storage::Asker&);

}  // namespace torchwatch::triage
