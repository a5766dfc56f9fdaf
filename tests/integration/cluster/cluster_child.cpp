// A torchwatch in small: one run on the cluster, in a process that may be killed.
//
//   cluster_child FOLDER IDLE-SECONDS
#include <cstdlib>

#include "trial_cluster.hpp"

int main(int argc, char** argv) {
  namespace test = torchwatch::test;
  if (argc != 3) return 2;
  const test::Trial trial{std::filesystem::path(argv[1])};
  const auto processes = torchwatch::process::make_process_runner(argv[1]);
  const torchwatch::platform::SystemClock clock;
  auto settings = trial.settings();
  settings.idle = std::chrono::seconds(std::atoi(argv[2]));
  torchwatch::cluster::SlurmExecutor executor(*processes, clock, std::move(settings));
  return executor.run(trial.spec("of-the-child"), {}) ? 0 : 1;
}
