#pragma once

#include <stop_token>
#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::tracing {

/// Looks for single operators that got slower where no workload did ([detect] operators), once the
/// comparison of a nightly is measured: workloads on a CPU whose time did not regress, as many as
/// show every operator often enough, are watched in one interleaved pair, those with a suspect in
/// two and then three. The operators that are suspects still become benchmarks of the comparison's
/// plan, which is stored: they are screened and confirmed like all others. Does nothing where that
/// was done. Returns whether anything was looked at: the comparison is to be measured on then, as
/// all series share the budget of false incidents with as many operators. Errors: of storage;
/// cancelled; unavailable (no process could be started).
Result<bool> screen_operators(comparison::Services&, comparison::Comparison&,
                              const comparison::ComparedBuilds&, std::stop_token stop);

/// Clears operators of a nightly that regressed only because others gave their time up: such a
/// verdict is unchanged, and its reason, which is logged, says from where the time moved. Errors:
/// of storage.
Status clear_moved_operators(comparison::Services&, const comparison::Comparison&,
                             std::vector<comparison::JudgedSeries>&);

}  // namespace torchwatch::tracing
