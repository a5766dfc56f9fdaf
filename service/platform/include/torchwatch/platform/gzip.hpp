#pragma once

#include <string>

namespace torchwatch::platform {

/// Compresses in the gzip format; empty if there is no memory for it. Thread-safe.
std::string gzip(const std::string&);

}  // namespace torchwatch::platform
