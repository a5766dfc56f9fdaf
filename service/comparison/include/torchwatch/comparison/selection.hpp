#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/comparison/plan.hpp"

namespace torchwatch::comparison {

/// What a person asks to have measured. What is empty is as [suite] has it.
struct Selection {
  std::vector<std::string> workloads = {};
  std::vector<Configuration> configurations = {};
  std::vector<Variant> variants = {};
  std::vector<Metric> metrics = {};  ///< empty: all; else only the passes that give them are run
  std::optional<Preset> preset = {};

  bool operator==(const Selection&) const = default;
};

/// Returns whether the metric is one that is asked for: a pass may give others beside it.
bool is_selected(const Selection&, Metric);
/// Returns whether the series is one that is asked for.
bool is_selected(const Selection&, const Series&);

/// Returns the configuration with the selection in place of [suite].
config::Config narrowed(config::Config, const Selection&);

/// Returns the plan of the selection on this machine. Errors: those of plan_of_config; invalid,
/// when a workload is not in the suite.
Result<Plan> plan_of(Services&, const Selection&);

/// Returns the members of a request that ask for it: "workloads", "configurations", "variants",
/// "metrics", "preset". What is empty is left out.
nlohmann::json to_json(const Selection&);
/// Reads those members of an object. Errors: invalid, naming the member.
Result<Selection> parse_selection(const nlohmann::json&);

}  // namespace torchwatch::comparison
