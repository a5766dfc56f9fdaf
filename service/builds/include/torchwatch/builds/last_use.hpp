#pragma once

#include <filesystem>
#include <optional>

namespace torchwatch::builds {

/// The file in a folder of the cache whose time says when the folder was used last.
inline constexpr const char* kLastUsed = "last-used";
/// The file in a tree that a person wants kept.
inline constexpr const char* kPinned = "pinned";
/// What the name of a tree ends with while it is removed.
inline constexpr const char* kRemovedSuffix = ".removed";

/// Notes that something in the cache is used now. Where that fails, it goes a little early.
void note_use(const std::filesystem::path& folder);

/// When it was noted that the folder was used; nothing where it never was.
std::optional<std::filesystem::file_time_type> noted_use_of(const std::filesystem::path& folder);

/// When a folder of the cache was used last; of one that nothing noted it of, when it was made.
std::filesystem::file_time_type last_use_of(const std::filesystem::path& folder);

}  // namespace torchwatch::builds
