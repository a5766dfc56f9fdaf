// A daemon in small: one run of the scripted runner, in a process that may be killed.
//
//   executor_child SCRATCH LIBRARIES
//
// Exit status: 0 a result, 1 a failed run, 2 no run took place.
#include "torchwatch/executor/local_executor.hpp"

namespace executor = torchwatch::executor;

int main(int argc, char** argv) {
  if (argc != 3) return 99;
  const auto processes = torchwatch::process::make_process_runner(argv[1]);
  executor::LocalExecutor local(*processes, argv[1], {});
  executor::RunSpec spec;
  spec.runner = TORCHWATCH_SCRIPTED_RUNNER;
  spec.libraries = argv[2];
  spec.request.attempt = "attempt1";
  spec.request.benchmark.workload = "resnet18";
  const auto outcome = local.run(spec, {});
  if (!outcome) return 2;
  return std::holds_alternative<executor::RunFailure>(*outcome) ? 1 : 0;
}
