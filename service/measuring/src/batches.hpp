#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/measurement/batch_choice.hpp"

namespace torchwatch::measuring {

/// Adds `workload batches`.
void add_batches(commands::Commands&, CLI::App& workload);

/// What it prints as JSON.
nlohmann::json batches_json(const std::vector<measurement::BatchChoice>&);

}  // namespace torchwatch::measuring
