#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <sstream>
#include <string>

#include "torchwatch/canvas/canvas.hpp"
#include "torchwatch/records/printable.hpp"

inline std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    longest = std::max(longest, torchwatch::characters_of(line));
  }
  return longest;
}

inline std::string joined(const torchwatch::drawing::Table& table) {
  std::string text;
  for (const auto& row : table.rows) {
    CHECK(row.size() == table.head.size());
    for (const auto& cell : row) text += cell + "|";
    text += '\n';
  }
  return text;
}

/// What every drawing keeps, whatever it is made of.
template <typename Drawing>
void check_sound(Drawing drawing) {
  for (const int width : {torchwatch::drawing::kNarrowWidth, 720}) {
    drawing.frame.width = width;
    const auto svg = svg_of(drawing);
    CHECK_THAT(svg, Catch::Contains(" role=\"") && Catch::Contains("viewBox=\"0 0 ") &&
                        Catch::Contains("<title id=\"") && Catch::Contains("<desc id=\""));
    CHECK_THAT(svg,
               !Catch::Contains("style=") && !Catch::Contains("nan") && !Catch::Contains("inf "));
    CHECK_THAT(svg, !Catch::Contains("<script") && !Catch::Contains("javascript") &&
                        !Catch::Contains("\033"));
    CHECK(svg == svg_of(drawing));
  }
  for (const int columns : {40, 60, 100}) {
    const auto text = text_of(drawing, columns);
    CHECK(longest_line(text) <= static_cast<std::size_t>(columns));
    CHECK_THAT(text, !Catch::Contains("\033") && !Catch::Contains("\xff") &&
                         !Catch::Contains(std::string("\xe2\x80") + "\xae"));
  }
  joined(table_of(drawing));
}
