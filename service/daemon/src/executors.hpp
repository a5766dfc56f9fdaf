#pragma once

#include <memory>
#include <optional>

#include "torchwatch/cluster/job_runner.hpp"
#include "torchwatch/cluster/slurm_executor.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/log/log.hpp"

namespace torchwatch::daemon {

/// The executor that [executor] kind names, made from the configuration.
class Executors {
 public:
  /// What it is made of must live longer. Errors: not_found (the script of a lane).
  static Result<Executors> open(const config::Config&, const sandbox::Sandbox&,
                                process::ProcessRunner&, const platform::Clock&, log::Log&);

  executor::Executor& chosen();
  /// The machines that are held at once; null for this machine alone.
  executor::Lanes* lanes() { return slurm_.get(); }
  /// What runs builds of commits as jobs; null where this machine makes them.
  process::ProcessRunner* build_jobs() { return build_jobs_.get(); }
  /// The one of this machine; null where runs happen elsewhere.
  executor::LocalExecutor* local() { return local_.get(); }

 private:
  void open_build_jobs(const config::Config&, process::ProcessRunner&, const platform::Clock&,
                       log::Log&);

  std::unique_ptr<executor::LocalExecutor> local_;
  std::unique_ptr<cluster::SlurmLanes> slurm_;
  std::unique_ptr<cluster::JobRunner> build_jobs_;
};

}  // namespace torchwatch::daemon
