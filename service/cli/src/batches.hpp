#pragma once

#include "commands.hpp"

namespace torchwatch::cli {

/// Adds `workload batches`.
void add_batches(Commands&, CLI::App& workload);

}  // namespace torchwatch::cli
