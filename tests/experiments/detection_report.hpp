#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "detection_counts.hpp"

namespace torchwatch::experiments {

/// What one sampling with one change gave.
struct Row {
  std::string sampling;  ///< "chronological" or "resampled"
  double change = 0;     ///< of the candidate's times, as a ratio - 1
  Table table;
};

/// All that is said about a run of the experiment.
struct DetectionReport {
  std::string file;
  std::uint64_t seed = 0;
  int series = 0;  ///< that share the budget of false incidents
  std::size_t comparisons = 0;
  std::size_t runs_of_one_workload = 0;
  std::vector<std::string> workloads;
  std::vector<Rule> rules;  ///< ours first
  std::vector<Row> rows;
};

/// Markdown tables, rates in per cent with exact 95 % intervals in parentheses.
void print(const DetectionReport& report);

/// Everything, with all counts by workload.
nlohmann::json to_json(const DetectionReport& report);

}  // namespace torchwatch::experiments
