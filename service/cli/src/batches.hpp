#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "commands.hpp"
#include "torchwatch/measurement/batch_choice.hpp"

namespace torchwatch::cli {

/// Adds `workload batches`.
void add_batches(Commands&, CLI::App& workload);

/// What it prints as JSON.
nlohmann::json batches_json(const std::vector<measurement::BatchChoice>&);

}  // namespace torchwatch::cli
