#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::report {

// Text of others (subjects, paths, names) is hostile: it leaves this file only as valid UTF-8 on
// one line, without control or direction characters, and, in Markdown, inside a code span, where
// nothing is a mention, a reference, a link or markup.

/// One line of valid UTF-8 with at most `characters_max` characters ("…" marks a cut). HTML comment
/// starts are broken, so that no text can pass for a marker.
std::string clean(std::string_view text, std::size_t characters_max);

/// `clean` text as a code span, with a fence that no run of backticks inside can close.
std::string code(std::string_view text, std::size_t characters_max = 200);

/// `code` for a table's cell, where a pipe would end the cell.
std::string code_cell(std::string_view text, std::size_t characters_max = 100);

/// A fenced code block of one line.
std::string code_block(std::string_view line, std::string_view language);

/// A pipe table; the cells are Markdown already. At most `rows_max` rows are kept, and the rest is
/// counted in a line below.
std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, std::size_t rows_max);

/// A bulleted list, cut like a table. `of_what` names the items that were left out.
std::string bullets(const std::vector<std::string>& items, std::size_t items_max,
                    std::string_view of_what);

/// Number of characters (code points) of valid UTF-8.
std::size_t length_in_characters(std::string_view text);

}  // namespace torchwatch::report
