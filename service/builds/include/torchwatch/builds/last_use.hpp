#pragma once

#include <filesystem>

namespace torchwatch::builds {

/// The file in a folder of the cache whose time says when the folder was used last.
inline constexpr const char* kLastUsed = "last-used";

/// Notes that something in the cache is used now. Where that fails, it goes a little early.
void note_use(const std::filesystem::path& folder);

/// When a folder of the cache was used last; of one that nothing noted it of, when it was made.
std::filesystem::file_time_type last_use_of(const std::filesystem::path& folder);

}  // namespace torchwatch::builds
