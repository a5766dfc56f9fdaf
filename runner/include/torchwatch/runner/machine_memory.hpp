#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace torchwatch::runner {

/// Bytes that this process can take before the kernel has to kill a process: the kernel's available
/// memory, or what the control groups of this process leave if that is less. Empty if /proc does
/// not say. `root` is another folder in tests only.
std::optional<std::int64_t> machine_memory_available(const std::filesystem::path& root = "/");

/// The part of `free_bytes` that a workload may take: an eighth is kept back for the machine itself
/// and for errors of the estimate.
constexpr std::int64_t usable_bytes(std::int64_t free_bytes) {
  return free_bytes - free_bytes / 8;
}

}  // namespace torchwatch::runner
