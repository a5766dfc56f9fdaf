#include "torchwatch/terminal/table.hpp"

#include <algorithm>
#include <ostream>

namespace torchwatch::terminal {
namespace {

/// Width on a terminal of UTF-8 text without wide characters: its code points.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

}  // namespace

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto widest = width(columns_[i].heading);
    for (const auto& row : rows_) widest = std::max(widest, width(row[i]));
    widths.push_back(widest);
  }
  const auto print_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width(cells[i]), ' ');
      const bool right = columns_[i].align == Align::right;
      line += (i == 0 ? "" : "  ") + (right ? padding + cells[i] : cells[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  std::vector<std::string> headings;
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(columns_[i].heading);
    rules.emplace_back(widths[i], '-');
  }
  print_row(headings);
  print_row(rules);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace torchwatch::terminal
