#pragma once

#include <future>

#include "trial_result.hpp"

namespace torchwatch::test {

/// A run that stands at the gate on a node, while something happens there.
struct AtWork {
  TrialOfTest& trial;
  cluster::SlurmExecutor& executor;
  std::future<Result<executor::RunOutcome>> run;
  std::string node;

  AtWork(TrialOfTest& of, cluster::SlurmExecutor& by) : trial(of), executor(by) {
    trial.close_gate();
    run = std::async(std::launch::async, [this] { return executor.run(trial.spec("a"), {}); });
    REQUIRE(comes_true([&] { return trial.arrived() == 1; }));
    const auto job = trial.jobs();
    node = job.substr(job.rfind(' ') + 1, 2);
    INFO(job);
    REQUIRE(node.front() == 'n');
  }
  RunResult result() {
    trial.open_gate();
    return result_of(run.get());
  }
};

}  // namespace torchwatch::test
