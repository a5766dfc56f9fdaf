#include "torchwatch/html/table.hpp"

namespace torchwatch::html {
namespace {

/// Whether a spreadsheet might carry the cell out.
bool is_formula(std::string_view text) {
  constexpr std::string_view kBegins = "=+-@\t\r\n";
  return !text.empty() && kBegins.find(text.front()) != std::string_view::npos;
}

std::string csv_cell(std::string_view text) {
  const auto inert = (is_formula(text) ? "'" : "") + std::string(text);
  if (inert.find_first_of("\",\r\n\t'") == std::string::npos) return inert;
  std::string cell = "\"";
  for (const char character : inert) {
    if (character == '"') cell += '"';
    cell += character;
  }
  return cell + "\"";
}

template <typename Entries, typename TextOf>
std::string csv_line(const Entries& entries, TextOf text_of) {
  std::string line;
  for (const auto& entry : entries) {
    if (&entry != &entries.front()) line += ',';
    line += csv_cell(text_of(entry));
  }
  return line + "\r\n";
}

}  // namespace

std::string csv_of(const Table& table) {
  auto csv = csv_line(table.columns, [](const Column& column) { return column.name; });
  for (const auto& row : table.rows) {
    csv += csv_line(row, [](const Cell& cell) {
      const auto* gap = cell.text.empty() || cell.more.empty() ? "" : " ";
      return cell.text + gap + cell.more;
    });
  }
  return csv;
}

}  // namespace torchwatch::html
