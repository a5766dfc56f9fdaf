#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::html {

/// What a column holds; the style sheet depends on it. Texts may break anywhere, phrases between
/// their words only, words do not break, numbers are aligned to the right, states are coloured
/// words.
enum class Cells { texts, phrases, words, numbers, states };

struct Column {
  std::string name;  ///< shown beside each cell where the screen is too narrow for a table
  Cells cells = Cells::texts;
  std::string key = {};    ///< its name in ?sort=; empty: the table is not sorted by it
  std::string exact = {};  ///< a number that belongs to the column, for the script
};

/// A cell of plain text, which may be a link and may have more plain text behind it.
struct Cell {
  Cell(std::string words, std::string linked_to = {}, std::string behind = {})
      : text(std::move(words)), link(std::move(linked_to)), more(std::move(behind)) {}
  Cell(std::string_view words) : text(words) {}
  Cell(const char* words) : text(words) {}
  /// Sorts by a number instead of by the text.
  Cell(std::string words, double number) : text(std::move(words)), order(number) {}

  std::string text;
  std::string link;
  std::string more;
  std::optional<double> order;
  std::string exact = {};  ///< what the script reads instead of the text: numbers, not rounded
};
using Rows = std::vector<std::vector<Cell>>;

/// A table. Each row has one cell per column; a column in which no row has anything is not shown.
struct Table {
  std::vector<Column> columns = {};
  Rows rows = {};
  std::string sorted_by = {};     ///< the key of a column; "-" before it: the largest first
  std::string sort_address = {};  ///< the page's, up to the key: "?metric=time&sort="
};

/// Sorts the rows by `sorted_by`, equal ones as they stood; numbers by their value, empty cells
/// last. Errors: invalid, with the keys that are allowed.
Status sort(Table&);

/// Makes CSV (RFC 4180) of the whole table, columns without anything included. A cell that a
/// spreadsheet would take for a formula begins with an apostrophe.
std::string csv_of(const Table&);

}  // namespace torchwatch::html
