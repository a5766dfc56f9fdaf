#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torchwatch {

/// Returns text of others as it may be stored and shown: "?" stands for each byte that is no UTF-8
/// and for each control character but line break and tab, so that no text moves a cursor, hides
/// what stands beside it, or breaks JSON.
std::string printable(std::string_view text);

/// Whether the byte continues a character of UTF-8 that an earlier byte began.
bool continues_character(char byte);

/// Counts the characters of valid UTF-8.
std::size_t characters_of(std::string_view text);

}  // namespace torchwatch
