#pragma once

#include <cstddef>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::platform {

/// Compresses in the gzip format; empty if there is no memory for it. `level` is zlib's, 1 (fast)
/// to 9 (small). Thread-safe.
std::string gzip(const std::string&, int level = 3);

/// Undoes it. Errors: corrupt, for what is not in that format or is cut off; invalid, for what has
/// more than `bytes_max` bytes then. Thread-safe.
Result<std::string> gunzip(const std::string&, std::size_t bytes_max);

}  // namespace torchwatch::platform
