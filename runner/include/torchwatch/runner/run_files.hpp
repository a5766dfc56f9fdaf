#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::runner {

/// The path of a result until it is complete.
std::filesystem::path partial_path(const std::filesystem::path& result);

/// Writes a result durably and atomically: a reader sees the complete result or none. Errors:
/// unavailable, with the file and the system's reason.
Status write_result(const std::filesystem::path& path, std::string_view content);

/// Reads a whole file. Errors: not_found, invalid (larger than `bytes_max`).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);

/// Reads a request. Errors name the file and what is wrong in it.
Result<protocol::Request> read_request(const std::string& path);

}  // namespace torchwatch::runner
