// Carries out what is due of the scripted day in a folder, as a process that tests can kill at any
// point, and prints what it left. Exit status: 0 done, 3 an error, which is printed on stderr.
//
// Usage: scripted_comparison FOLDER [WORKLOAD]: the suite is that workload in cpu-train alone.
//
// TORCHWATCH_FAULT injects a fault under SQLite (faulty_vfs.hpp); "none" only counts the operations
// that could fail and prints their number on stderr.
#include <cstdlib>
#include <iostream>

#include "faulty_vfs.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"

int main(int count, char** values) {
  using namespace torchwatch;
  if (count != 2 && count != 3) {
    std::cerr << "usage: scripted_comparison FOLDER [WORKLOAD]\n";
    return 2;
  }
  auto config = test::scripted_config(values[1]);
  if (count == 3) {
    config.suite.workloads = {values[2]};
    config.suite.configurations = {{Device::cpu, Mode::train}};
  }
  std::string vfs;
  if (std::getenv("TORCHWATCH_FAULT") != nullptr) {
    vfs = test::register_faulty_vfs(test::fault_plan_from_environment());
  }
  auto service = test::ScriptedService::open(config, vfs);
  if (!service) {
    std::cerr << service.error().message << '\n';
    return 3;
  }
  const auto comparisons = (*service)->carry_out_due_comparisons();
  if (!comparisons) {
    std::cerr << comparisons.error().message << '\n';
    return 3;
  }
  const auto state = test::final_state((*service)->services().database);
  std::cout << state.value_or("unreadable") << std::flush;
  if (!vfs.empty()) std::cerr << "operations " << test::operations_of(vfs) << std::endl;
  return state ? 0 : 3;
}
