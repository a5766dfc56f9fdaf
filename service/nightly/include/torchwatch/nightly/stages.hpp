#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "torchwatch/comparison/selection.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::nightly {

/// Carries out a comparison from its present state to its end, stage by stage; each stage is stored
/// when it is done. It may be killed at any moment: the next call continues, and the end is the
/// same. Errors: invalid, not_found, conflict, corrupt (a build, a plan: it never can), failed
/// (a kit does not compile), unavailable and timed_out (call again later), cancelled, of storage.
Result<storage::ComparisonRow> carry_out_comparison(comparison::Services&, storage::ComparisonRow,
                                                    std::stop_token stop);

/// Carries out every comparison that has not ended, each on its own (WorkList), and those that
/// follow from them. Calls `after_each`, which may fail, after each. Returns the given comparisons
/// as they are then, and those of the others that found an incident. Errors: as attend; those of
/// `after_each`.
Result<std::vector<storage::ComparisonRow>> carry_out_comparisons(
    comparison::Services&, std::vector<storage::ComparisonRow>,
    const std::function<Status()>& after_each, std::stop_token stop);

/// Opens a requested comparison of two builds, or returns the same one if it was interrupted. It
/// measures even equal builds. With `opens_incidents` a regression becomes an incident and is
/// bisected, as in a nightly; otherwise there are only verdicts. Errors: invalid (a
/// workload that is not in the suite), before anything is stored; of storage.
Result<storage::ComparisonRow> open_requested_comparison(comparison::Services&,
                                                         storage::Id candidate,
                                                         storage::Id baseline, bool opens_incidents,
                                                         const comparison::Selection& = {});

/// Opens a comparison of a build with itself under two settings, or returns the same one if it was
/// interrupted. It opens no incident. Errors: invalid (a workload that is not in the suite, also
/// one that a setting names), before anything is stored; of storage.
Result<storage::ComparisonRow> open_study(comparison::Services&, storage::Id build,
                                          const storage::StudyRow&,
                                          const comparison::Selection& = {});

}  // namespace torchwatch::nightly
