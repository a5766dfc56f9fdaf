#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/cluster/job_runner.hpp"
#include "torchwatch/cluster/slurm_text.hpp"
#include "torchwatch/orders/node_look.hpp"

namespace torchwatch::cluster {

struct NamedJob {
  std::string name;  ///< without what all names of the service begin with: "0", "build-1234abcd"
  Job job;
};

/// Returns the jobs in the queue that belong to a service, by the beginning of their names. Errors:
/// unavailable.
Result<std::vector<NamedJob>> jobs_of_service(process::ProcessRunner&, const std::string& prefix);

/// Runs `torchwatch-carry look` as a job and returns what the node says. Errors: unavailable (no
/// node came, Slurm refuses the job, the program is not seen there), corrupt.
Result<orders::NodeLook> look_at_node(process::ProcessRunner&, const platform::Clock&,
                                      JobRunner::Settings, const std::filesystem::path& scratch,
                                      const std::vector<std::filesystem::path>& paths);

}  // namespace torchwatch::cluster
