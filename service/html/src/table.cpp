#include "torchwatch/html/table.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

#include "torchwatch/html/fragment.hpp"
#include "torchwatch/html/quoting.hpp"
#include "torchwatch/markdown/markdown.hpp"

namespace torchwatch::html {
namespace {

/// Returns ` class="number"` and the like; "" for cells without a class.
std::string_view class_of(Cells cells) {
  switch (cells) {
    case Cells::numbers:
      return " class=\"number\"";
    case Cells::phrases:
      return " class=\"phrase\"";
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
Filled filled_of(const Table& table) {
  Filled filled(table.columns.size());
  for (const auto& row : table.rows) {
    assert(row.size() == table.columns.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      filled[i] = filled[i] || !row[i].text.empty() || !row[i].more.empty();
    }
  }
  return filled;
}

/// A heading that sorts by its column, and the other way where the table is sorted by it already.
std::string sorting_heading(const Table& table, const Column& column) {
  const bool is_ascending = table.sorted_by == column.key;
  const bool is_descending = table.sorted_by == "-" + column.key;
  const auto next = (is_ascending ? "-" : "") + column.key;
  const auto* order = is_ascending ? "ascending" : is_descending ? "descending" : "none";
  return std::string(" aria-sort=\"") + order + "\"><a href=\"" +
         escaped(table.sort_address + next) + "\">" + escaped(column.name) + "</a></th>";
}

/// What a script reads; only where it says more than the text.
std::string exact_attribute(const std::string& exact) {
  return exact.empty() ? "" : " data-value=\"" + escaped(exact) + "\"";
}

std::string exact_of(const Cell& cell) {
  if (!cell.exact.empty() || !cell.order) return cell.exact;
  std::array<char, 32> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), *cell.order);
  return error == std::errc{} ? std::string(digits.data(), end) : std::string();
}

std::string html_head(const Table& table, const Filled& filled) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& column = table.columns[i];
    if (!filled[i]) continue;
    const bool sorts = !column.key.empty() && !table.sort_address.empty();
    row += "<th scope=\"col\"" + std::string(class_of(column.cells)) +
           exact_attribute(column.exact) +
           (sorts ? sorting_heading(table, column) : ">" + escaped(column.name) + "</th>");
  }
  return row + "</tr>\n";
}

Fragment fragment_of(const Cell& cell) {
  auto fragment = link(cell.link, cell.text);
  if (!cell.more.empty()) fragment += text(" " + cell.more);
  return fragment;
}

std::string html_cell(const Column& column, const Cell& cell) {
  auto content = fragment_of(cell).html;
  if (column.cells == Cells::states && !cell.text.empty()) {
    content = "<span class=\"state " + escaped(cell.text) + "\">" + content + "</span>";
  }
  // Beside its column's name on a narrow screen a cell is one thing, link and text together.
  if (!cell.more.empty()) content = "<span>" + content + "</span>";
  return "<td" + std::string(class_of(column.cells)) + " data-column=\"" + escaped(column.name) +
         "\"" + exact_attribute(exact_of(cell)) + ">" + content + "</td>";
}

bool has_link(const Table& table) {
  const bool sorts = !table.sort_address.empty();
  return sorts || std::ranges::any_of(table.rows, [](const auto& row) {
           return std::ranges::any_of(row, [](const Cell& cell) { return !cell.link.empty(); });
         });
}

std::string html_of(const Table& table, const Filled& filled) {
  // One that scrolls must be reached by keys, by a link in it or by itself.
  const auto* focus = has_link(table) ? "" : " tabindex=\"0\"";
  std::string html = std::string("<table") + focus + ">\n<thead>\n" + html_head(table, filled) +
                     "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (filled[i]) html += html_cell(table.columns[i], row[i]);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string markdown_of(const Table& table, const Filled& filled) {
  std::string head = "|";
  std::string rule = "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!filled[i]) continue;
    head += " " + report::prose(table.columns[i].name) + " |";
    rule += table.columns[i].cells == Cells::numbers ? " --: |" : " :-- |";
  }
  auto markdown = head + "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    markdown += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (filled[i]) markdown += " " + fragment_of(row[i]).markdown + " |";
    }
    markdown += "\n";
  }
  return markdown + "\n";
}

bool is_before(const Cell& left, const Cell& right) {
  if (left.order && right.order) return *left.order < *right.order;
  return left.order.has_value() != right.order.has_value() ? left.order.has_value()
                                                           : left.text < right.text;
}

}  // namespace

Status sort(Table& table) {
  if (table.sorted_by.empty()) return {};
  const bool is_descending = table.sorted_by.starts_with('-');
  const auto key = table.sorted_by.substr(is_descending ? 1 : 0);
  const auto found = std::ranges::find(table.columns, key, &Column::key);
  if (key.empty() || found == table.columns.end()) {
    std::string allowed;
    for (const auto& column : table.columns) {
      if (!column.key.empty()) allowed += (allowed.empty() ? "" : ", ") + column.key;
    }
    return fail(ErrorCode::invalid, "invalid sort \"" + key.substr(0, 100) + "\": must be one of " +
                                        allowed + ", with - before it for the largest first");
  }
  const auto place = static_cast<std::size_t>(found - table.columns.begin());
  std::ranges::stable_sort(table.rows, [&](const auto& left, const auto& right) {
    const auto& first = left[place];
    const auto& second = right[place];
    const bool is_one_empty = first.text.empty() != second.text.empty();
    if (is_one_empty) return second.text.empty();
    return is_descending ? is_before(second, first) : is_before(first, second);
  });
  return {};
}

Fragment table(Table table, std::string_view otherwise) {
  const auto filled = filled_of(table);
  auto fragment = table.rows.empty()
                      ? paragraph(text(otherwise))
                      : Fragment{html_of(table, filled), markdown_of(table, filled), {}};
  fragment.tables.push_back(std::move(table));
  return fragment;
}

}  // namespace torchwatch::html
