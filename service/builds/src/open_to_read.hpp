#pragma once

#include <filesystem>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::builds {

/// A regular file, behind links. Errors: not_found (also a link that leads nowhere), invalid (a
/// folder, a pipe), unavailable.
Result<UniqueFd> open_to_read(const std::filesystem::path&);

}  // namespace torchwatch::builds
