#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// The operators that one iteration of each mode of a workload calls, on a CPU at the small preset.
struct WorkloadCoverage {
  std::string workload;
  std::string domain;
  std::set<std::string> operators;
  std::vector<std::string> reasons;  ///< of modes that did not run
};

/// How many operators are reached in all, by domain, and by the networks of MLPerf that the paper
/// compares with; and which only one workload reaches.
void print_coverage(std::ostream&, const std::vector<WorkloadCoverage>&, const Screen&);
nlohmann::json coverage_json(const std::vector<WorkloadCoverage>&);

}  // namespace torchwatch::terminal
