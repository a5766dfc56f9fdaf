#pragma once

#include <cstdint>
#include <optional>

namespace torchwatch::runner {

/// Resident bytes of this process now. Empty if /proc does not say.
std::optional<std::int64_t> resident_bytes();

/// Those of them that are pages of mapped files, most of them of libraries. How many the kernel
/// maps around the one that is touched depends on how the file lies in the page cache, so equal
/// code has different ones. Empty if /proc does not say.
std::optional<std::int64_t> resident_file_bytes();

/// Highest resident bytes since the process began or since `reset_resident_peak`. Only the process
/// itself can read it: the highest use that a parent reads of a child survives exec.
std::optional<std::int64_t> resident_peak_bytes();

/// Returns false if the kernel refuses; the peak then includes earlier use.
bool reset_resident_peak();

}  // namespace torchwatch::runner
