#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::cli {

/// The operators that one iteration of each mode of a workload calls, on a CPU at the small preset.
struct WorkloadCoverage {
  std::string workload;
  std::string domain;
  std::set<std::string> operators;
  std::vector<std::string> reasons;  ///< of modes that did not run
};

/// Runs the coverage pass of every listed workload, each in a process of its own. `listed` is what
/// `registered_workloads` gave. Errors: those of the kits and of Executor::run; a workload that
/// fails is a reason in its entry.
Result<std::vector<WorkloadCoverage>> cover(comparison::Services&, const storage::BuildRow&,
                                            const nlohmann::json& listed, std::stop_token stop);

/// How many operators are reached in all, by domain, and by the networks of MLPerf that the paper
/// compares with; and which only one workload reaches.
void print_coverage(std::ostream&, const std::vector<WorkloadCoverage>&, const terminal::Screen&);
nlohmann::json coverage_json(const std::vector<WorkloadCoverage>&);

}  // namespace torchwatch::cli
