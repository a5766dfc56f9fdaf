#include "html.hpp"

#include <cassert>

namespace torchwatch::pages {
namespace {

/// Returns ` class="number"` and the like; "" for cells without a class.
std::string_view class_of(Cells cells) {
  switch (cells) {
    case Cells::numbers:
      return " class=\"number\"";
    case Cells::words:
      return " class=\"word\"";
    case Cells::texts:
    case Cells::states:
      break;
  }
  return "";
}

std::string html_head(const std::vector<Column>& columns) {
  std::string row = "<tr>";
  for (const auto& column : columns) {
    row += "<th scope=\"col\"" + std::string(class_of(column.cells)) + ">" +
           html_text(column.name) + "</th>";
  }
  return row + "</tr>\n";
}

std::string html_cell(const Column& column, const std::string& text) {
  std::string content = html_text(text);
  if (column.cells == Cells::states && !content.empty()) {
    content = "<span class=\"state " + content + "\">" + content + "</span>";
  }
  return "<td" + std::string(class_of(column.cells)) + " data-column=\"" + html_text(column.name) +
         "\">" + content + "</td>";
}

std::string html_row(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
  assert(cells.size() == columns.size());
  std::string row = "<tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) row += html_cell(columns[i], cells[i]);
  return row + "</tr>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char character : text) {
    switch (character) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += character;
    }
  }
  return safe;
}

std::string html_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string table = "<table>\n<thead>\n" + html_head(columns) + "</thead>\n<tbody>\n";
  for (const auto& row : rows) table += html_row(columns, row);
  return table + "</tbody>\n</table>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  // The empty icon keeps browsers from asking for one.
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"style.css\">\n"
         "<title>" +
         html_text(title) + "</title>\n</head>\n<body>\n" + std::string(body) +
         "</body>\n</html>\n";
}

}  // namespace torchwatch::pages
