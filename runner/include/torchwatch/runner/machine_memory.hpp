#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace torchwatch::runner {

/// Bytes that this process can still take before the kernel has to end somebody: what the kernel
/// calls available, or what the control groups of this process leave where that is less. None where
/// /proc says nothing. `root` is another folder in tests only.
std::optional<std::int64_t> machine_memory_available(const std::filesystem::path& root = "/");

/// What a workload may take of so many free bytes: an eighth is kept back, for the machine itself
/// and for what an estimate misses.
constexpr std::int64_t usable_bytes(std::int64_t free_bytes) {
  return free_bytes - free_bytes / 8;
}

}  // namespace torchwatch::runner
