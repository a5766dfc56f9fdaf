#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

// What a number means, in the words that every form of a drawing uses.

/// Makes one harmless line of text.
std::string one_line(std::string_view text);
/// Divides text at its line breaks.
std::vector<std::string> lines_of(const std::string& text);
/// Fills up with blanks on the right, or on the left; longer text stays as it is.
std::string padded(std::string text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);
/// Two texts at the ends of a line of that many columns.
std::string between(const std::string& left, const std::string& right_one, std::size_t columns);
/// Wraps a sentence to lines with their ends.
std::string paragraph(std::string_view words, int columns);
/// A text's columns, as what it is made of can bear them.
int bounded(int columns);

/// "slower", "more memory"; without a metric "worse".
std::string_view word_up(std::optional<Metric>);
/// "faster", "less memory"; without a metric "better".
std::string_view word_down(std::optional<Metric>);
/// "lower is faster", "less is better".
std::string direction(std::optional<Metric>);

/// Nothing unless it is a ratio that can be drawn.
std::optional<double> drawable(std::optional<double> ratio);
/// Nothing unless both ends can be drawn.
std::optional<Interval> drawable(std::optional<Interval> of_ratios);

/// "+12.3 % (slower)"; "no change" where it is rounded to nothing.
std::string change_words(double ratio, std::optional<Metric>);
/// ", 99 % interval [+11.1, +13.6] %", or nothing.
std::string interval_words(const std::optional<Interval>&, double confidence);
/// "[+11.1, +13.6] %", or nothing.
std::string interval_cell(const std::optional<Interval>&);
/// The threshold as a change: "+7.0 %".
std::string threshold_words(double threshold);

/// The same of series that are drawn together: "+7.0 %", or "+7.0 % or +2.0 % (each series its
/// own)".
std::string threshold_words(const std::vector<double>& thresholds);
/// Each threshold once, the largest first.
std::vector<double> each_once(std::vector<double> thresholds);
/// "99 % interval": the heading of a column.
std::string interval_heading(double confidence);

/// The values that are numbers.
std::vector<double> finite(const std::vector<double>& values);

}  // namespace torchwatch::drawing
