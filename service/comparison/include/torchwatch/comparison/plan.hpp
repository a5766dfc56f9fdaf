#pragma once

#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::comparison {

/// Returns the plan of `config` for those workloads and configurations, in all its variants.
Plan make_plan(const config::Config&, const std::vector<std::string>& workloads,
               const std::vector<Configuration>& configurations);

/// Returns whether [suite] has CUDA configurations on this machine.
bool measures_cuda(const config::Config&);

/// Returns the plan of [suite] on this machine: all workloads if it names none, and CUDA
/// configurations if there is a driver. Errors: of the runner source, invalid (the batch table; a
/// configuration that no machine class measures).
Result<Plan> plan_of_config(Services&);
/// Returns the same of another configuration.
Result<Plan> plan_of_config(Services&, const config::Config&);

/// Returns the request for one process of the plan, without an attempt.
protocol::Request request_for(const Plan&, const Benchmark&, Pass);

/// Returns whether runs of that pass are interleaved in pairs: timing runs, if the plan says so. A
/// device that does not hold both workloads refuses the pair, and its runs are made apart.
bool is_interleaved(const Plan&, Pass);

/// Errors: invalid, when a name is not that of a workload of the suite.
Status check_workloads(Services&, const std::vector<std::string>& names);
/// Errors: invalid, when the plan has no benchmark.
Status check_benchmarks(const Plan&);
/// The same as both for a plan and its workloads.
Status check_plan(Services&, const Plan&);

}  // namespace torchwatch::comparison
