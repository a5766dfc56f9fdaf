#pragma once

#include <cstdint>
#include <optional>

namespace torchwatch::runner {

/// Bytes in use in all heaps of the process, as glibc counts them: with block headers and with the
/// caches of threads. The calling thread's cache is filled up before, so that it stays constant.
/// Empty with a libc that does not report it.
std::optional<std::int64_t> heap_bytes_in_use();

/// The most heap bytes that a block of `bytes` of LibTorch's CPU allocator, which aligns to 64, can
/// take. A large block may be a mapping of whole pages, depending on glibc's threshold.
std::int64_t heap_bytes_of_block(std::int64_t bytes);

}  // namespace torchwatch::runner
