#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// A table for people that fits its screen. Sentences are wrapped in their column, or stand below
/// their row where the column would be too narrow; then the least important columns are left out,
/// then long names are shortened in their middle. Numbers stand to the right and stay whole. A
/// column in which no row has anything is left out.
class Table {
 public:
  enum class Align { left, right };
  /// What becomes of a cell that is too wide.
  enum class Fit {
    shorten,  ///< a name: loses its middle
    whole,    ///< a word, a date, a key that is copied: stays as it is
    wrap,     ///< a sentence: continues on the next line
  };
  struct Column {
    std::string heading = {};
    Align align = Align::left;
    /// 0: never left out; else the column with the highest rank goes first.
    int rank = 0;
    /// How narrow a name or a sentence may get: less of it tells nothing.
    std::size_t least = 12;
    Fit fit = Fit::shorten;
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
  /// Adds a row of as many cells as there are columns. Line breaks in a cell become blanks, and one
  /// of more than 4,000 characters, which only text of others has, loses its middle.
  void add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  void print(std::ostream&, const Screen&) const;
  /// The whole table as Markdown: nothing more is shortened, no column that has something is left
  /// out.
  std::string markdown() const;

 private:
  struct Shown {
    std::size_t column = 0;
    std::size_t width = 0;
    std::size_t least = 0;  ///< what `width` may become
  };
  /// The columns that stand beside each other, and those whose text stands below its row.
  struct Layout {
    std::vector<Shown> beside;
    std::vector<std::size_t> below;
  };
  std::vector<Shown> filled_columns() const;
  std::size_t least_width(std::size_t column, std::size_t width) const;
  std::size_t width_with(const std::vector<Shown>&, bool narrowed) const;
  Layout fitting(int columns) const;
  std::string lines_beside(const std::vector<Shown>&, const std::vector<Cell>&,
                           const Screen&) const;
  std::string lines_below(const std::vector<std::size_t>&, const std::vector<Cell>&,
                          const Screen&) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  int indent_;
};

}  // namespace torchwatch::terminal
