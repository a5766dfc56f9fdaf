#pragma once

#include <optional>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::follow_ups {

// Comparisons that follow a nightly: rechecks of open incidents, a drift comparison and a drill
// where they are due, and a self-test. Call these inside the transaction that ends the nightly.
// What they open is unfinished work like any other comparison.

/// Opens everything that follows a nightly. Errors: of storage.
Status open_follow_ups(comparison::Services&, const comparison::Comparison& nightly);

/// Opens the self-test of a nightly: its candidate compared with itself in one benchmark, by the
/// nightly's own rule, so that every change it reports is a false alarm. Every [detect] drill_every
/// nightlies it opens a drill, too: the same in the time of one benchmark, one side of which is
/// slowed down by twice the threshold, so that no change found is one missed. The benchmarks
/// alternate. Errors: of storage.
Status open_tests_of_service(comparison::Services&, const comparison::Comparison& nightly);

/// Opens a recheck: `candidate` against the incident's last good build, in the incident's series.
Result<storage::ComparisonRow> open_recheck(comparison::Services&, const storage::IncidentRow&,
                                            const storage::ComparisonRow& found_by,
                                            const comparison::Plan&, storage::Id candidate);

/// Closes the incident of a recheck if the stored verdicts say that nothing of it is left; returns
/// the incident that it closed. Errors: of storage.
Result<std::optional<storage::IncidentRow>> conclude_recheck(comparison::Services&,
                                                             const storage::ComparisonRow& recheck);

}  // namespace torchwatch::follow_ups
