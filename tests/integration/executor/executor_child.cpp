// A daemon in small: one run of the scripted runner, in a process that may be killed.
//
//   executor_child SCRATCH LIBRARIES
//
// Exit status: 0 a result, 1 a failed run, 2 no run took place.
#include "torchwatch/executor/local_executor.hpp"

namespace executor = torchwatch::executor;

int main(int argc, char** argv) {
  if (argc != 3) return 99;
  const auto processes = torchwatch::doors::make_process_runner(argv[1]);
  executor::LocalExecutor local(*processes, argv[1], {});
  executor::RunOrder order;
  order.runner = TORCHWATCH_SCRIPTED_RUNNER;
  order.libraries = argv[2];
  order.request.attempt = "attempt1";
  order.request.cell.workload = "resnet18";
  const auto id = local.submit(order);
  if (!id) return 2;
  const auto outcome = local.wait(*id, {});
  if (!outcome) return 2;
  return std::holds_alternative<executor::RunFailure>(*outcome) ? 1 : 0;
}
