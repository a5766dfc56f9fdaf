#pragma once

#include <string>
#include <string_view>

namespace torchwatch::html {

// All foreign text gets into a page through these functions.

/// Escapes what HTML would interpret, in text and in attributes.
std::string escaped(std::string_view text);

/// Escapes a text that people read: what stands in backquotes is code, a word with a dash (a date,
/// a build's name) does not break there, and a figure keeps its unit beside it.
std::string escaped_prose(std::string_view text);

/// Escapes what Markdown would interpret, and makes one line of it. What stands in backquotes stays
/// code. No text becomes a mention, a link or markup.
std::string markdown_prose(std::string_view text);

/// Makes a code span of Markdown that no backquote in the text can close.
std::string markdown_code(std::string_view text);

/// Makes a fenced block of Markdown that no run of backquotes in the text can close.
std::string markdown_block(std::string_view text);

}  // namespace torchwatch::html
