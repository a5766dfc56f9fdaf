#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torchwatch::config {

/// Reads a whole number and one unit: "30d", "4h", "30 m", "90s", "500ms". Returns nothing for
/// other text.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view);

/// Writes a duration in the largest unit that needs no fraction.
std::string format_duration(std::chrono::milliseconds);

/// Reads a number of bytes: "40GiB", "512MiB", "40 GB" (10^9 each), "4096". Returns nothing for
/// other text and for more than 2^63 - 1.
std::optional<std::int64_t> parse_size(std::string_view);

/// Writes bytes in the unit in which they are shortest: "40GB", "512MiB". parse_size reads it.
std::string format_size(std::int64_t bytes);

/// Returns whether a location is an address, not a path: "https://...", "git@host:path".
bool is_url(std::string_view location);

}  // namespace torchwatch::config
