#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::pages {

// All foreign text gets into a page through these functions.

/// Escapes what HTML would interpret.
std::string html_text(std::string_view text);

/// What a column holds; the style sheet depends on it. Texts may break anywhere, words do not
/// break, numbers are aligned to the right, states are coloured words.
enum class Cells { texts, words, numbers, states };

struct Column {
  std::string_view name;  ///< shown beside each cell where the screen is too narrow for a table
  Cells cells = Cells::texts;
};

/// Makes a table. Each row has one cell of plain text per column.
std::string html_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows);

/// Makes a page around a body of HTML. The page loads its style sheet and nothing else.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace torchwatch::pages
