#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::inquiry {

/// The suite's workloads, as configured, with what is known without building a network: domain,
/// task, batch sizes, configurations (`torchwatch-runner list --json --registered` of that build's
/// kit).
Result<nlohmann::json> registered_workloads(daemon::Application&, const storage::BuildRow&,
                                            std::stop_token stop);

/// The same with what has to be counted: parameters, modules, FLOPs, outputs. Asked once, as it
/// builds and runs every network at the paper's sizes (minutes), and kept beside the kit.
Result<nlohmann::json> counted_workloads(daemon::Application&, const storage::BuildRow&,
                                         std::stop_token stop);

}  // namespace torchwatch::inquiry
