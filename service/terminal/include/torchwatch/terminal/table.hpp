#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// A table for people that fits its screen: the least important columns are left out, then long
/// names are shortened in their middle. Numbers stand to the right and stay whole.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string heading;
    Align align = Align::left;
    /// 0: never left out; else the column with the highest rank goes first.
    int rank = 0;
    /// How far a name may be shortened: less of it tells nothing.
    std::size_t least = 12;
  };
  struct Cell {
    Cell(std::string words, Tone in = Tone::plain) : text(std::move(words)), tone(in) {}
    Cell(std::string_view words) : text(words) {}
    Cell(const char* words) : text(words) {}

    std::string text;
    Tone tone = Tone::plain;
  };

  /// `indent`: blanks before each line.
  explicit Table(std::vector<Column> columns, int indent = 0)
      : columns_(std::move(columns)), indent_(indent) {}
  /// Adds a row of as many cells as there are columns.
  void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  void print(std::ostream&, const Screen&) const;

 private:
  struct Shown {
    std::size_t column = 0;
    std::size_t width = 0;
  };
  std::vector<Shown> fitting(int columns) const;
  std::string line(const std::vector<Shown>&, const std::vector<Cell>&, const Screen&) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  int indent_;
};

}  // namespace torchwatch::terminal
