#include "html.hpp"

#include <algorithm>
#include <cassert>

#include "torchwatch/drawing/markup.hpp"

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

using Filled = std::vector<bool>;

/// Which columns have anything in any row.
Filled filled_of(const std::vector<Column>& columns, const Rows& rows) {
  Filled filled(columns.size());
  for (const auto& row : rows) {
    assert(row.size() == columns.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      filled[i] = filled[i] || !row[i].text.empty() || !row[i].more.empty();
    }
  }
  return filled;
}

std::string html_head(const std::vector<Column>& columns, const Filled& filled) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& column = columns[i];
    if (!filled[i]) continue;
    row += "<th scope=\"col\"" + std::string(class_of(column.cells)) + ">" +
           html_text(column.name) + "</th>";
  }
  return row + "</tr>\n";
}

std::string html_of(const Cell& cell) {
  const auto text = html_link(cell.link, cell.text);
  return cell.more.empty() ? text : text + " " + html_prose(cell.more);
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

std::string html_row(const std::vector<Column>& columns, const Filled& filled,
                     const std::vector<Cell>& cells) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (filled[i]) row += html_cell(columns[i], cells[i]);
  }
  return row + "</tr>\n";
}

/// A longer word may break anywhere: it must fit a narrow screen.
constexpr std::size_t kWholeWordMax = 32;

/// Whether a browser would break the word at a dash in it.
bool is_broken_at_dash(std::string_view word) {
  const auto dash = word.find('-', 1);
  return word.size() <= kWholeWordMax && dash != std::string_view::npos && dash + 1 < word.size();
}

std::string html_words(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const auto end = text.find(' ');
    const auto word = text.substr(0, end);
    const auto safe = html_text(word);
    html += is_broken_at_dash(word) ? "<span class=\"whole\">" + safe + "</span>" : safe;
    if (end == std::string_view::npos) break;
    html += ' ';
    text.remove_prefix(end + 1);
  }
  return html;
}

}  // namespace

std::string html_text(std::string_view text) {
  return drawing::escaped(text);
}

std::string html_prose(std::string_view text) {
  std::string html;
  while (true) {
    const auto begin = text.find('`');
    const auto end = text.find('`', begin + 1);
    if (begin == std::string_view::npos || end == std::string_view::npos) {
      return html + html_words(text);
    }
    html += html_words(text.substr(0, begin)) + "<code>" +
            html_text(text.substr(begin + 1, end - begin - 1)) + "</code>";
    text.remove_prefix(end + 1);
  }
}

std::string html_link(std::string_view address, std::string_view text) {
  if (address.empty()) return html_prose(text);
  return "<a href=\"" + html_text(address) + "\">" + html_prose(text) + "</a>";
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
  const auto filled = filled_of(columns, rows);
  std::string table = "<table>\n<thead>\n" + html_head(columns, filled) + "</thead>\n<tbody>\n";
  for (const auto& row : rows) table += html_row(columns, filled, row);
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
