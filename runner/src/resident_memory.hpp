#pragma once

#include <cstdint>
#include <optional>

namespace torchwatch::runner {

/// Resident bytes of this process now. None where /proc says nothing.
std::optional<std::int64_t> resident_bytes();

/// Highest resident bytes since the process began or since `reset_resident_peak`. Only the process
/// itself can tell: what a parent learns of a child's highest use survives exec.
std::optional<std::int64_t> resident_peak_bytes();

/// False where the kernel refuses; the peak then includes what came before.
bool reset_resident_peak();

}  // namespace torchwatch::runner
