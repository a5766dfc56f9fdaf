#pragma once

#include <cstdint>
#include <optional>

namespace torchwatch::runner {

/// Bytes that all heaps of the process have given out and not got back, as glibc counts them: with
/// its headers, and with what it keeps for threads, which of this one is filled up before. None
/// with a libc that does not tell.
std::optional<std::int64_t> heap_bytes_in_use();

/// The most that a block of so many bytes of LibTorch's CPU allocator, which aligns to 64, takes of
/// the heap: a large one is a mapping of whole pages or not, as glibc's threshold then stands.
std::int64_t heap_bytes_of_block(std::int64_t bytes);

}  // namespace torchwatch::runner
