#pragma once

#include <map>
#include <string>
#include <vector>

namespace torchwatch::runner {

/// The shared libraries of this process with their ELF build ids: "library.NAME" for those of C and
/// C++, "build.library.NAME" for all that a build brings along or needs. The system's have their
/// path, a build's do not, as they may lie in a fresh copy for each run.
std::map<std::string, std::string> library_facts();

/// Model, driver and clocks of the first GPU by NVML, which is opened by name: nothing links it. If
/// NVML cannot be asked, the only fact `gpu` says why.
std::map<std::string, std::string> gpu_facts(const std::vector<std::string>& libraries = {
                                                 "libnvidia-ml.so.1"});

}  // namespace torchwatch::runner
