#pragma once

#include "torchwatch/cluster/job_runner.hpp"
#include "torchwatch/config/config.hpp"

namespace torchwatch::daemon {

/// Returns how a job gets a node as a lane of that class gets one; `queue_limit`: how long it may
/// wait.
cluster::JobRunner::Settings settings_of_look(const config::Config&,
                                              const config::SlurmClass& machine_class,
                                              std::chrono::seconds queue_limit);

/// Returns what begins the names of the jobs of the service with that database.
std::string job_prefix(const config::Config&);

}  // namespace torchwatch::daemon
