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

/// Bytes in use in all heaps of the process, as glibc counts them: with block headers and with the
/// caches of threads. The calling thread's cache is filled up before, so that it stays constant.
/// Empty with a libc that does not report it.
std::optional<std::int64_t> heap_bytes_in_use();

/// The most heap bytes that a block of `bytes` of LibTorch's CPU allocator, which aligns to 64, can
/// take. A large block may be a mapping of whole pages, depending on glibc's threshold.
std::int64_t heap_bytes_of_block(std::int64_t bytes);

}  // namespace torchwatch::runner
