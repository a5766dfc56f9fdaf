#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::web {

// Text of others gets into a page through here alone.

/// The text with all that HTML would understand written out.
std::string html_text(std::string_view text);

/// What the cells of a column hold, by which the style sheet sets them: texts are broken anywhere,
/// words of ours nowhere, numbers stand to the right, states are words with a colour.
enum class Cells { texts, words, numbers, states };

struct Column {
  std::string_view name;  ///< stands beside each cell where a screen is too narrow for a table
  Cells cells = Cells::texts;
};

/// A table; each row has a cell for each column, in plain text.
std::string html_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows);

/// A whole page around a body that is HTML already. Its only other file is the style sheet, and
/// nothing in it comes from elsewhere.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace torchwatch::web
