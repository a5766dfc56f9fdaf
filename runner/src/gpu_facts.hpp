#pragma once

#include <map>
#include <string>

namespace torchwatch::runner {

/// Model, driver and clocks of the first GPU by NVML, which is loaded by name: nothing links it,
/// and a machine without it has no such facts.
std::map<std::string, std::string> gpu_facts();

}  // namespace torchwatch::runner
