#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace torchwatch::protocol {

/// Returns what each run states of this machine: cpu_model, cpus, kernel, memory. What the system
/// does not say is "unknown".
std::map<std::string, std::string> machine_facts();

/// Returns how much memory a machine has, from what its kernel left of it: up to the next eighth of
/// a power of two, "24 GiB" from 23.4 GiB. Kernels differ in what they keep to themselves.
std::string memory_fact(std::int64_t kernel_bytes);

}  // namespace torchwatch::protocol
