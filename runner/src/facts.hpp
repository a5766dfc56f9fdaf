#pragma once

#include <map>
#include <string>
#include <vector>

namespace torchwatch::runner {

/// The shared libraries of this process with their ELF build ids: "library.NAME" for those of C and
/// C++, "build.library.NAME" for all that a build brings along or needs. The system's have their
/// path, a build's do not, as they may lie in a fresh copy for each run.
std::map<std::string, std::string> library_facts();

/// Model, driver and clocks of the GPU that this process computes on (CUDA's first, which
/// CUDA_VISIBLE_DEVICES may choose), by NVML. NVML and the driver are opened by name: nothing links
/// them. If NVML cannot be asked, the only fact `gpu` says why.
std::map<std::string, std::string> gpu_facts(
    const std::vector<std::string>& libraries = {"libnvidia-ml.so.1"},
    const std::vector<std::string>& drivers = {"libcuda.so.1"});

}  // namespace torchwatch::runner
