#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::cluster {

class SlurmClient;

/// Runs each process as a job of its own on a node of a Slurm cluster, by `torchwatch-carry`: its
/// limits and its sandbox hold there. Whatever srun's exit status is, a process has ended when its
/// node says so; otherwise it is process::Lost, and its job is ended. Thread-safe, but two
/// processes at once need two labels.
class JobRunner final : public process::ProcessRunner {
 public:
  struct Settings {
    std::string name;                          ///< begins the names of its jobs, this service's
    std::vector<std::string> options;          ///< of srun
    std::filesystem::path program;             ///< torchwatch-carry, as the nodes see it
    std::chrono::seconds queue_limit{43'200};  ///< for a node to come
    std::chrono::milliseconds poll{500};       ///< from one look at the queue to the next
    bool uses_all_cores = true;                ///< of its job, as TORCHWATCH_JOBS
    std::function<void(const std::string&)> log = [](const std::string&) {};
  };
  JobRunner(process::ProcessRunner&, const platform::Clock&, Settings);
  ~JobRunner() override;

  process::ProcessOutcome run(const process::ProcessSpec& spec, std::stop_token stop = {}) override;

 private:
  Status end_jobs(const std::string& name) const;

  std::unique_ptr<SlurmClient> client_;
  const platform::Clock& clock_;
  Settings settings_;
  std::atomic<int> tries_ = 0;
};

}  // namespace torchwatch::cluster
