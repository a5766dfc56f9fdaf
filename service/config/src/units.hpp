#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torchwatch::config {

/// "4h", "30m", "90s", "500ms": a whole number and one unit; nothing for anything else.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view);

/// The inverse, in the largest unit that needs no fraction.
std::string format_duration(std::chrono::milliseconds);

/// "40GiB", "512MiB", "64KiB", "4096": bytes; nothing for anything else or more than 2^63 - 1.
std::optional<std::int64_t> parse_size(std::string_view);

/// The inverse, in the largest unit that needs no fraction; without a unit below 1 KiB.
std::string format_size(std::int64_t bytes);

}  // namespace torchwatch::config
