#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::runner {

/// Where a result lies until it is whole.
std::filesystem::path partial_path(const std::filesystem::path& result);

/// Writes beside, makes it durable, renames: a reader sees the whole result or none.
/// Errors: unavailable, with the file and the system's reason.
Status write_result(const std::filesystem::path& path, std::string_view content);

/// Errors: not_found, invalid (larger than `bytes_max`).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace torchwatch::runner
