#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::conversation {

/// A line of a paragraph, rendered.
struct PlainLine {
  std::string text;       ///< with the text of links, emphasis and code spans; without HTML
  std::size_t plain = 0;  ///< bytes at its beginning that are plain text, as written
};

/// Returns the lines of a document's paragraphs; none of quotes, lists, code blocks, headings and
/// HTML blocks.
std::vector<PlainLine> lines_of_paragraphs(std::string_view markdown);

}  // namespace torchwatch::conversation
