#include "torchwatch/terminal/table.hpp"

#include <algorithm>
#include <ostream>

namespace torchwatch::terminal {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

/// Leaves out columns until shortened names fit, then shortens the longest names.
std::vector<Table::Shown> Table::fitting(int columns) const {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto widest = width_of(columns_[i].heading);
    for (const auto& row : rows_) widest = std::max(widest, width_of(row[i].text));
    shown.push_back({i, widest});
  }
  const auto is_name = [&](const Shown& one) { return columns_[one.column].align == Align::left; };
  const auto least = [&](const Shown& one) {
    return std::min(one.width, columns_[one.column].least);
  };
  const auto needed = [&](bool shortened) {
    auto sum = static_cast<std::size_t>(indent_) + kGap * (shown.size() - 1);
    for (const auto& one : shown) {
      sum += shortened && is_name(one) ? least(one) : one.width;
    }
    return sum;
  };
  const auto available = static_cast<std::size_t>(columns);
  while (needed(true) > available) {
    const auto dispensable = std::ranges::max_element(
        shown, {}, [&](const Shown& one) { return columns_[one.column].rank; });
    if (columns_[dispensable->column].rank == 0) break;
    shown.erase(dispensable);
  }
  while (needed(false) > available) {
    const auto longest = std::ranges::max_element(
        shown, {}, [&](const Shown& one) { return is_name(one) ? one.width - least(one) : 0; });
    if (!is_name(*longest) || longest->width <= least(*longest)) break;
    --longest->width;
  }
  return shown;
}

std::string Table::line(const std::vector<Shown>& shown, const std::vector<Cell>& cells,
                        const Screen& screen) const {
  std::string text(static_cast<std::size_t>(indent_), ' ');
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& cell = cells[shown[i].column];
    const auto words = elided(cell.text, shown[i].width);
    const std::string padding(shown[i].width - width_of(words), ' ');
    const bool right = columns_[shown[i].column].align == Align::right;
    text += (i == 0 ? "" : std::string(kGap, ' ')) + (right ? padding : "") +
            painted(words, cell.tone, screen) + (right ? "" : padding);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void Table::print(std::ostream& out, const Screen& screen) const {
  const auto shown = fitting(screen.columns);
  std::vector<Cell> headings;
  for (const auto& column : columns_) headings.emplace_back(column.heading);
  out << line(shown, headings, screen) << '\n'
      << std::string(static_cast<std::size_t>(indent_), ' ');
  for (std::size_t i = 0; i < shown.size(); ++i) {
    out << (i == 0 ? "" : std::string(kGap, ' ')) << std::string(shown[i].width, '-');
  }
  out << '\n';
  for (const auto& row : rows_) out << line(shown, row, screen) << '\n';
}

}  // namespace torchwatch::terminal
