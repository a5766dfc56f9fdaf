#pragma once

#include <map>
#include <string>
#include <vector>

namespace torchwatch::runner {

/// Model, driver and clocks of the first GPU by NVML, which is opened by name: nothing links it.
/// Where it cannot tell, the one fact `gpu` says why.
std::map<std::string, std::string> gpu_facts(const std::vector<std::string>& libraries = {
                                                 "libnvidia-ml.so.1"});

}  // namespace torchwatch::runner
