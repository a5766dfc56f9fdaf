#pragma once

#include <filesystem>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::secrets {

/// Reads a secret from a file, which must have mode 0600 or 0400, without the space around it.
/// Errors name the file, never the content: not_found, unavailable, invalid (others may read the
/// file, it is empty, too long, or has more than one line).
Result<std::string> read_secret(const std::filesystem::path&);
/// Reads a secret of several lines, such as a key in PEM, from such a file.
Result<std::string> read_secret_text(const std::filesystem::path&);

}  // namespace torchwatch::secrets
