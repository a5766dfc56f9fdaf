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

std::string html_of(const Cell& cell) {
  const auto text = html_link(cell.link, cell.text);
  return cell.more.empty() ? text : text + " " + html_text(cell.more);
}

std::string html_cell(const Column& column, const Cell& cell) {
  std::string content = html_of(cell);
  if (column.cells == Cells::states && !cell.text.empty()) {
    content = "<span class=\"state " + html_text(cell.text) + "\">" + content + "</span>";
  }
  // Beside its column's name on a narrow screen a cell is one thing, link and text together.
  if (!cell.more.empty()) content = "<span>" + content + "</span>";
  return "<td" + std::string(class_of(column.cells)) + " data-column=\"" + html_text(column.name) +
         "\">" + content + "</td>";
}

std::string html_row(const std::vector<Column>& columns, const std::vector<Cell>& cells) {
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

std::string html_link(std::string_view address, std::string_view text) {
  if (address.empty()) return html_text(text);
  return "<a href=\"" + html_text(address) + "\">" + html_text(text) + "</a>";
}

std::string html_facts(const std::vector<std::pair<std::string_view, Cell>>& facts) {
  std::string list = "<dl>\n";
  for (const auto& [name, cell] : facts) {
    if (cell.text.empty()) continue;
    list += "<div><dt>" + html_text(name) + "</dt><dd>" + html_of(cell) + "</dd></div>\n";
  }
  return list + "</dl>\n";
}

std::string html_section(std::string_view heading, const std::string& content) {
  return "<section>\n<h2>" + html_text(heading) + "</h2>\n" + content + "</section>\n";
}

std::string html_table(const std::vector<Column>& columns, const Rows& rows) {
  std::string table = "<table>\n<thead>\n" + html_head(columns) + "</thead>\n<tbody>\n";
  for (const auto& row : rows) table += html_row(columns, row);
  return table + "</tbody>\n</table>\n";
}

std::string html_page(std::string_view title, std::string_view body, std::string_view root) {
  // The empty icon keeps browsers from asking for one.
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"" +
         html_text(root) + "style.css\">\n<title>" + html_text(title) +
         "</title>\n</head>\n<body>\n" + std::string(body) + "</body>\n</html>\n";
}

}  // namespace torchwatch::pages
