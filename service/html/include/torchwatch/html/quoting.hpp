#pragma once

#include <string>
#include <string_view>

#include "torchwatch/canvas/markup.hpp"

namespace torchwatch::html {

// All foreign text gets into a page through these functions, and into its Markdown through those of
// markdown/markdown.hpp.

using drawing::escaped;

/// Escapes a text that people read: what stands in backquotes is code, a word with a dash (a date,
/// a build's name) does not break there, and a figure keeps its unit beside it.
std::string escaped_prose(std::string_view text);

}  // namespace torchwatch::html
