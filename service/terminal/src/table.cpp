#include "torchwatch/terminal/table.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "torchwatch/html/fragment.hpp"

namespace torchwatch::terminal {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kBelowIndent = 4;
constexpr std::size_t kCellMax = 4000;

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  // A line of wrapped text ends before the last column that is given.
  std::istringstream wrapped_text(wrapped(text, static_cast<int>(width) + 1));
  std::vector<std::string> lines;
  for (std::string line; std::getline(wrapped_text, line);) lines.push_back(line);
  return lines;
}

/// The width of the longest word, or of what stays together like one.
std::size_t widest_word(const std::string& text) {
  std::size_t widest = 0;
  for (const auto& word : lines_of(text, 0)) widest = std::max(widest, width_of(word));
  return widest;
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  for (auto& cell : cells) {
    cell.text = elided(cell.text, kCellMax);
    std::ranges::replace(cell.text, '\n', ' ');
  }
  rows_.push_back(std::move(cells));
}

std::vector<Table::Shown> Table::filled_columns() const {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, width_of(row[i].text));
    if (widest == 0) continue;
    const auto width = std::max(widest, width_of(columns_[i].heading));
    shown.push_back({.column = i, .width = width, .least = least_width(i, width)});
  }
  return shown;
}

std::size_t Table::least_width(std::size_t index, std::size_t width) const {
  const auto& column = columns_[index];
  if (column.align == Align::right || column.fit == Fit::whole) return width;
  if (column.fit == Fit::shorten) return std::min(width, column.least);
  auto least = std::max(column.least, width_of(column.heading));
  for (const auto& row : rows_) least = std::max(least, widest_word(row[index].text));
  return std::min(width, least);
}

std::size_t Table::width_with(const std::vector<Shown>& shown, bool narrowed) const {
  auto sum =
      static_cast<std::size_t>(indent_) + kGap * (std::max<std::size_t>(shown.size(), 1) - 1);
  for (const auto& one : shown) sum += narrowed ? one.least : one.width;
  return sum;
}

/// Wraps sentences or puts them below, leaves out columns until shortened names fit, then shortens
/// the longest names.
Table::Layout Table::fitting(int columns) const {
  const auto available = static_cast<std::size_t>(columns);
  Layout layout{.beside = filled_columns(), .below = {}};
  auto& shown = layout.beside;
  const auto wraps = [&](const Shown& one) { return columns_[one.column].fit == Fit::wrap; };
  const auto spare = [](const Shown& one) { return one.width - one.least; };
  const auto narrow = [&](auto may_narrow) {
    while (width_with(shown, false) > available) {
      const auto longest = std::ranges::max_element(shown, {}, [&](const Shown& one) {
        return may_narrow(one) && spare(one) > 0 ? one.width : 0;
      });
      if (longest == shown.end() || !may_narrow(*longest) || spare(*longest) == 0) return;
      --longest->width;
    }
  };
  narrow(wraps);
  if (width_with(shown, false) > available) {
    for (const auto& one : shown) {
      if (wraps(one)) layout.below.push_back(one.column);
    }
    std::erase_if(shown, wraps);
  }
  while (width_with(shown, true) > available) {
    const auto dispensable = std::ranges::max_element(
        shown, {}, [&](const Shown& one) { return columns_[one.column].rank; });
    if (columns_[dispensable->column].rank == 0) break;
    shown.erase(dispensable);
  }
  narrow([&](const Shown& one) { return !wraps(one); });
  return layout;
}

std::string Table::lines_beside(const std::vector<Shown>& shown, const std::vector<Cell>& cells,
                                const Screen& screen) const {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (const auto& one : shown) {
    const auto& text = cells[one.column].text;
    const bool wraps = columns_[one.column].fit == Fit::wrap;
    parts.push_back(wraps ? lines_of(text, one.width) : std::vector{elided(text, one.width)});
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (std::size_t at = 0; at < height; ++at) {
    std::string line(static_cast<std::size_t>(indent_), ' ');
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto words = at < parts[i].size() ? parts[i][at] : std::string();
      const std::string padding(shown[i].width - std::min(shown[i].width, width_of(words)), ' ');
      const bool right = columns_[shown[i].column].align == Align::right;
      line += (i == 0 ? "" : std::string(kGap, ' ')) + (right ? padding : "") +
              painted(words, cells[shown[i].column].tone, screen) + (right ? "" : padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string Table::lines_below(const std::vector<std::size_t>& columns,
                               const std::vector<Cell>& cells, const Screen& screen) const {
  const std::string indent(static_cast<std::size_t>(indent_) + kBelowIndent, ' ');
  const auto width = static_cast<std::size_t>(screen.columns) - indent.size();
  std::string text;
  for (const auto column : columns) {
    const auto& cell = cells[column];
    if (cell.text.empty()) continue;
    const auto label = columns.size() > 1 ? columns_[column].heading + ": " : "";
    for (const auto& line : lines_of(label + cell.text, width)) {
      text += indent + painted(line, cell.tone, screen) + '\n';
    }
  }
  return text;
}

void Table::print(std::ostream& out, const Screen& screen) const {
  const auto [beside, below] = fitting(screen.columns);
  std::vector<Cell> headings;
  for (const auto& column : columns_) headings.emplace_back(column.heading);
  out << lines_beside(beside, headings, screen)
      << std::string(static_cast<std::size_t>(indent_), ' ');
  for (std::size_t i = 0; i < beside.size(); ++i) {
    out << (i == 0 ? "" : std::string(kGap, ' ')) << std::string(beside[i].width, '-');
  }
  out << '\n';
  for (const auto& row : rows_) {
    out << lines_beside(beside, row, screen) << lines_below(below, row, screen);
  }
}

std::string Table::markdown() const {
  html::Table table;
  for (const auto& column : columns_) {
    const bool is_right = column.align == Align::right;
    table.columns.push_back({column.heading, is_right ? html::Cells::numbers : html::Cells::texts});
  }
  for (const auto& row : rows_) {
    auto& cells = table.rows.emplace_back();
    for (const auto& cell : row) cells.emplace_back(cell.text);
  }
  return html::table(std::move(table)).markdown;
}

}  // namespace torchwatch::terminal
