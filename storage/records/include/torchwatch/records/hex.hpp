#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torchwatch {

/// Returns bytes as lower-case hex digits, two for each.
std::string hex_of(std::string_view bytes);

/// Returns a number as 16 lower-case hex digits.
std::string hex_of(std::uint64_t number);

/// Returns whether a text is `digits_min` to `digits_max` lower-case hex digits.
bool is_hex(std::string_view text, std::size_t digits_min, std::size_t digits_max);

/// Returns whether a text is the whole name of a git commit, by SHA-1 or by SHA-256.
bool is_commit(std::string_view text);

/// Shortens a commit's sha to 12 digits.
std::string short_sha(std::string_view sha);

}  // namespace torchwatch
