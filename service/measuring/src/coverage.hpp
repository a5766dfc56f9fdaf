#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <vector>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/measurement/measurement.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/coverage_text.hpp"

namespace torchwatch::measuring {

/// Runs the coverage pass of every listed workload, each in a process of its own, and stores what
/// they call. `listed` is what `inquiry::registered_workloads` gave. Errors: those of
/// observe_build; a workload that fails is a reason in its entry.
Result<std::vector<terminal::WorkloadCoverage>> cover(comparison::Services&,
                                                      const storage::BuildRow&,
                                                      const nlohmann::json& listed,
                                                      std::stop_token stop);

/// Runs passes that time nothing, of each benchmark of [suite] one process, and prints what they
/// saw. Errors: those of observe_build.
Status print_observed(const commands::Invocation&, comparison::Services&, const storage::BuildRow&,
                      const std::vector<Pass>&);

}  // namespace torchwatch::measuring
