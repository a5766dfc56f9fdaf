#pragma once

#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::nightly {

// Comparisons that follow a nightly: rechecks of open incidents, a drift comparison if it is due,
// and a self-test. Call these inside the transaction that ends the nightly. What they open is
// unfinished work like any other comparison.

/// Opens everything that follows a nightly. Errors: of storage.
Status open_follow_ups(comparison::Services&, const comparison::Comparison& nightly);

/// Opens the self-test of a nightly: its candidate compared with itself in one benchmark, by the
/// nightly's own rule, so that every change it reports is a false alarm. The benchmarks alternate
/// from nightly to nightly. Errors: of storage.
Status open_self_test(comparison::Services&, const comparison::Comparison& nightly);

/// Closes the incident of a recheck with a comment if nothing of it is left. Call inside the
/// transaction that stores the recheck's verdicts, after them. Errors: of storage.
Status conclude_recheck(comparison::Services&, const storage::ComparisonRow& recheck,
                        storage::Id incident, const std::vector<comparison::JudgedSeries>&);

}  // namespace torchwatch::nightly
