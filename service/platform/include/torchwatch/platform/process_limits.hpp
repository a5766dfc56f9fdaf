#pragma once

#include <cstdint>

namespace torchwatch::platform {

/// Lets this process have `wanted` files open at once, as far as it may by itself (RLIMIT_NOFILE),
/// and returns how many it may have then. Never lowers what it has. Children that are started later
/// inherit it.
std::uint64_t raise_open_files(std::uint64_t wanted);

/// Has the allocator give back what is freed, and share its memory between threads: each thread
/// that answers requests would otherwise keep the most that it ever needed. Call it before threads
/// are started. On other C libraries than glibc it does nothing.
void keep_memory_low();

}  // namespace torchwatch::platform
