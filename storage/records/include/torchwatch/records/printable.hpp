#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torchwatch {

/// Returns text of others as it may be stored and shown: "?" stands for each byte that is no UTF-8
/// and for each control character but line break and tab and each mark of direction, so that no
/// text moves a cursor, hides what stands beside it, or breaks JSON.
std::string printable(std::string_view text);

/// Whether the byte continues a character of UTF-8 that an earlier byte began.
bool continues_character(char byte);

/// Counts the characters of valid UTF-8.
std::size_t characters_of(std::string_view text);

/// Returns the byte at which that character of valid UTF-8 begins, the first being 0; the size of a
/// text that has fewer.
std::size_t byte_of(std::string_view text, std::size_t character);

/// Shortens text to `columns` by an ellipsis in its middle, where names differ least.
std::string elided(const std::string& text, std::size_t columns);

/// Breaks text between words into lines of at most `columns`, each ended by a newline. Lines after
/// the first begin with `indent` blanks. A word that is longer than a line stays whole, and so does
/// a command in backquotes: people copy it.
std::string wrapped(std::string_view text, int columns, std::size_t indent = 0);

}  // namespace torchwatch
