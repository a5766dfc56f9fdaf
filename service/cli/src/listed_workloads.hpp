#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::cli {

/// What is known of the whole suite without a build, from the sources: name, domain, task, batch
/// sizes, and why a configuration is refused (models/suite.json). Errors: not_found, corrupt.
Result<nlohmann::json> suite_of(const config::Config&);

/// What a kit at hand has counted of its workloads, from the newest such kit; null without one.
nlohmann::json counted_at_hand(const config::Config&);

/// The suite's workloads, as configured, with what is known without building a network: domain,
/// task, batch sizes, configurations (`torchwatch-runner list --json --registered` of that build's
/// kit).
Result<nlohmann::json> registered_workloads(daemon::Application&, const storage::BuildRow&,
                                            std::stop_token stop);

/// The same with what has to be counted: parameters, modules, FLOPs, outputs. Asked once, as it
/// builds and runs every network at the paper's sizes (minutes), and kept beside the kit.
Result<nlohmann::json> counted_workloads(daemon::Application&, const storage::BuildRow&,
                                         std::stop_token stop);

}  // namespace torchwatch::cli
