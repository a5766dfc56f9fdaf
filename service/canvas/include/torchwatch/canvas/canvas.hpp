#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::drawing {

// Evidence drawn once, from plain data: as SVG for pages and issues, as text for terminals and
// fences, and as the table that says the same. All three are pure: the same data, the same text.
//
//   svg_of(x)            an <svg> element to stand in a page, coloured by style_sheet()
//   text_of(x, columns)  lines of at most `columns` characters, each with its end; at least 40
//   table_of(x)          what is drawn, as formatted cells
//
// Strings may come from anybody: each form makes them harmless. Times and sizes are in ns and
// bytes, changes are ratios (1.07 is 7 % more), all numbers finite; others are left out.

/// For which place an SVG is made.
struct Frame {
  /// Begins every id in the SVG, so each drawing of a page needs another: letters, digits and "-".
  std::string id = "drawing";
  /// How many units it is wide, laid out so that one unit is about one pixel: 320 for a narrow
  /// screen. The SVG itself fills the width of its container.
  int width = 720;
};

inline constexpr int kNarrowWidth = 320;

/// An interval of ratios or of values.
struct Interval {
  double low = 0;
  double high = 0;
};

/// What a drawing shows, for people who cannot or do not want to see it: formatted cells, in the
/// order of the drawing. "" where there is nothing.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

/// The style sheet of all drawings, for pages: light, dark and print.
std::string_view style_sheet();

/// Makes a file of its own of an SVG: with the style sheet inside, for an issue.
std::string stand_alone(const std::string& svg);

/// Both widths of a drawing for a page; its style sheet shows the one that fits the screen.
template <typename Drawing>
std::string responsive(Drawing drawing) {
  std::string both = "<div class=\"drawing-wide\">\n" + svg_of(drawing);
  drawing.frame = {drawing.frame.id + "-narrow", kNarrowWidth};
  return both + "</div>\n<div class=\"drawing-narrow\">\n" + svg_of(drawing) + "</div>\n";
}

}  // namespace torchwatch::drawing
