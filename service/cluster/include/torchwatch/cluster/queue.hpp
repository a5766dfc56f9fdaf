#pragma once

#include <string>
#include <vector>

#include "torchwatch/cluster/slurm_text.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::cluster {

struct NamedJob {
  std::string name;  ///< without what all names of the service begin with: "0", "build-1234abcd"
  Job job;
};

/// Returns the jobs in the queue that belong to a service, by the beginning of their names. Errors:
/// unavailable.
Result<std::vector<NamedJob>> jobs_of_service(process::ProcessRunner&, const std::string& prefix);

}  // namespace torchwatch::cluster
