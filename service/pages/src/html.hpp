#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::pages {

// All foreign text gets into a page through these functions.

/// Escapes what HTML would interpret.
std::string html_text(std::string_view text);

/// Escapes a text that people read: what stands in backquotes is code, and a word with a dash (a
/// date, a build's name) does not break there.
std::string html_prose(std::string_view text);

/// Makes a link. The address is one of ours or one that the configuration names; without one, the
/// text alone.
std::string html_link(std::string_view address, std::string_view text);

/// What a column holds; the style sheet depends on it. Texts may break anywhere, words do not
/// break, numbers are aligned to the right, states are coloured words.
enum class Cells { texts, words, numbers, states };

struct Column {
  std::string_view name;  ///< shown beside each cell where the screen is too narrow for a table
  Cells cells = Cells::texts;
};

/// A cell of plain text, which may be a link and may have more plain text behind it.
struct Cell {
  Cell(std::string words, std::string linked_to = {}, std::string behind = {})
      : text(std::move(words)), link(std::move(linked_to)), more(std::move(behind)) {}
  Cell(std::string_view words) : text(words) {}
  Cell(const char* words) : text(words) {}

  std::string text;
  std::string link;
  std::string more;
};
using Rows = std::vector<std::vector<Cell>>;

/// Makes a table. Each row has one cell per column; a column in which no row has anything is left
/// out.
std::string html_table(const std::vector<Column>& columns, const Rows& rows);

/// Makes a list of names and what belongs to them; entries without text are left out.
std::string html_facts(const std::vector<std::pair<std::string_view, Cell>>& facts);

/// Makes a section with a heading around content of HTML.
std::string html_section(std::string_view heading, const std::string& content);

/// Makes a page around a body of HTML. `root`: the way from its address to that of the overview,
/// "" or "../". The page loads its style sheet and nothing else.
std::string html_page(std::string_view title, std::string_view body, std::string_view root);

}  // namespace torchwatch::pages
