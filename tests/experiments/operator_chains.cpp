// The C++ side of blocked_autorange.py: chains of operators under the runner's timing pass.
// autorange_timer.py times the same chains by torch.utils.benchmark.

#include "operator_chains.hpp"

#include <iostream>
#include <vector>

#include "fake_workload.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/runner/timing_pass.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch;

constexpr const char* kUsage =
    "usage: experiment_operator_chains --list | CHAIN\n"
    "--list prints the names of the chains. With a CHAIN, prints LibTorch's version; then, for "
    "each\n"
    "line of standard input, times the chain by the runner's timing pass (a request's defaults, "
    "one\n"
    "thread) and prints the nanoseconds of an iteration. Ends with its input.\n";

void serve(experiments::Step (*build)()) {
  runner::set_threads(1);
  torch::manual_seed(1337);
  runner::FakeWorkload workload(build());
  std::cout << runner::libtorch_facts()["build.torch_version"] << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto timings = runner::time_iterations(workload, models::Device::cpu, {});
    std::cout << median(timings.samples_ns) << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() != 1 || arguments[0] == "--help") {
    (arguments.size() == 1 ? std::cout : std::cerr) << kUsage;
    return arguments.size() == 1 ? 0 : 2;
  }
  const auto& chains = experiments::operator_chains();
  if (arguments[0] == "--list") {
    for (const auto& [name, build] : chains) std::cout << name << '\n';
    return 0;
  }
  const auto found = chains.find(arguments[0]);
  if (found == chains.end()) {
    std::cerr << "experiment_operator_chains: no chain \"" << arguments[0] << "\"; see --list\n";
    return 2;
  }
  serve(found->second);
  return 0;
}
