#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "torchwatch/records/run_result.hpp"

namespace torchwatch::runner {

/// The facts of this process's environment. Names beginning with "build." belong to the build under
/// test and differ between two builds; all others must be equal for two runs to be comparable.
std::map<std::string, std::string> environment_facts(bool with_gpu);

/// Counters of this process and its machine; all of them only grow.
struct KernelCounters {
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t cpu_ns = 0;       ///< user and system time of this process
  std::int64_t wall_ns = 0;      ///< of a clock that is never set
  std::int64_t steal_ticks = 0;  ///< time that the host gave to others, for the whole machine
};
KernelCounters read_kernel_counters();

/// `after` - `before` under the names of the environment's volatile facts, with the load average
/// (times 1,000) now, whether the processor names a hypervisor, and how hot it is, where its
/// sensors say that (`temperature_milli`, thousandths of a degree Celsius).
std::map<std::string, std::int64_t> volatile_facts(const KernelCounters& before,
                                                   const KernelCounters& after);

}  // namespace torchwatch::runner
