#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::traces {

/// The folder of all traces, beside a database.
std::filesystem::path folder_beside(const std::filesystem::path& database);

/// The file of a run's trace; `token` is that of its attempt.
std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& token);

/// Compresses what a runner wrote and keeps it as that file, with its folder where that is missing.
/// Returns false where it wrote nothing that can be kept: no file, a link, or more than 256 MiB.
/// Errors: unavailable.
Result<bool> keep(const std::filesystem::path& written, const std::filesystem::path& file);

/// The size of a trace, in bytes; nothing where there is none.
std::optional<std::int64_t> size_of(const std::filesystem::path& file);

/// The compressed trace as it is kept. Errors: not_found, unavailable.
Result<std::string> read(const std::filesystem::path& file);

/// How large all traces may be together.
inline constexpr std::int64_t kAllBytesMax = std::int64_t{1} << 30;

/// Removes the traces that were written before that moment, then the oldest while all together have
/// more bytes than allowed. Returns how many went. Errors: unavailable.
Result<int> remove_old(const std::filesystem::path& folder, std::filesystem::file_time_type oldest,
                       std::int64_t bytes_max = kAllBytesMax);

}  // namespace torchwatch::traces
