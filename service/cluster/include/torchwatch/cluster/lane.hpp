#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/cluster/slurm_text.hpp"

namespace torchwatch::cluster {

/// The steps by which a lane (a job of one name that holds a node) gets ready for an order.
struct UseJob {
  Job job;
};
struct SubmitJob {};
/// These jobs are too many, or have too little time left. Then look again.
struct CancelJobs {
  std::vector<std::string> ids;
};
struct WaitForJob {
  Job job;
};
/// The job waits for something that never comes: partition, account or constraint do not fit.
struct HopelessJob {
  Job job;
};
using LaneStep = std::variant<UseJob, SubmitJob, CancelJobs, WaitForJob, HopelessJob>;

/// Decides what is next, from the jobs of the lane's name and the time that the order may take.
/// Pure. A submission that failed may have made a job all the same, so of several jobs one is kept:
/// one that runs before one that waits, and the oldest of those.
LaneStep next_step(const std::vector<Job>& jobs, std::chrono::seconds needed);

}  // namespace torchwatch::cluster
