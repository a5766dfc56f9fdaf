#include "torchwatch/canvas/words.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "torchwatch/canvas/markup.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

constexpr std::string_view kNoBreak = "\u00a0";

/// Has lines break nowhere between a figure and its unit.
std::string with_units(std::string_view line) {
  std::string held;
  while (true) {
    const auto end = line.find(' ');
    const auto word = line.substr(0, end);
    held += word;
    if (end == std::string_view::npos) return held;
    line.remove_prefix(end + 1);
    held += belong_together(word, line) ? kNoBreak : " ";
  }
}

std::string with_plain_blanks(std::string text) {
  for (auto at = text.find(kNoBreak); at != std::string::npos; at = text.find(kNoBreak, at)) {
    text.replace(at, kNoBreak.size(), " ");
  }
  return text;
}

}  // namespace

std::string one_line(std::string_view text) {
  auto line = printable(text);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string padded(std::string text, std::size_t columns) {
  const auto width = characters_of(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

std::string right(const std::string& text, std::size_t columns) {
  const auto width = characters_of(text);
  return std::string(columns - std::min(columns, width), ' ') + text;
}

std::string between(const std::string& left, const std::string& right_one, std::size_t columns) {
  return left + right(right_one, columns - std::min(columns, characters_of(left)));
}

std::string paragraph(std::string_view words, int columns) {
  auto line = one_line(words);
  std::ranges::replace(line, '`', '\'');  // what it quotes would stay on one line
  std::string lines;
  for (const auto& each : lines_of(wrapped(with_units(line), columns))) {
    lines += elided(each, static_cast<std::size_t>(columns)) + "\n";
  }
  return with_plain_blanks(lines);
}

int bounded(int columns) {
  return std::clamp(columns, 40, 400);
}

std::string_view word_up(std::optional<Metric> metric) {
  if (!metric) return "worse";
  if (*metric == Metric::output_difference) return "further apart";
  return pass_of(*metric) == Pass::timing ? "slower" : "more memory";
}

std::string_view word_down(std::optional<Metric> metric) {
  if (!metric) return "better";
  if (*metric == Metric::output_difference) return "closer";
  return pass_of(*metric) == Pass::timing ? "faster" : "less memory";
}

std::string direction(std::optional<Metric> metric) {
  return "lower is " + std::string(word_down(metric));
}

std::optional<double> drawable(std::optional<double> ratio) {
  if (ratio && std::isfinite(*ratio) && *ratio > 0) return ratio;
  return std::nullopt;
}

std::optional<Interval> drawable(std::optional<Interval> of_ratios) {
  if (of_ratios && figures::is_known(of_ratios->low, of_ratios->high)) return of_ratios;
  return std::nullopt;
}

std::string change_words(double ratio, std::optional<Metric> metric) {
  const auto change = figures::change(ratio);
  if (change == figures::change(1)) return "no change";
  return change + " (" + std::string(ratio > 1 ? word_up(metric) : word_down(metric)) + ")";
}

std::string interval_words(const std::optional<Interval>& interval, double confidence) {
  const auto cell = interval_cell(interval);
  return cell.empty() ? "" : ", " + interval_heading(confidence) + " " + cell;
}

std::string interval_cell(const std::optional<Interval>& interval) {
  return interval ? figures::interval_with_unit(interval->low, interval->high) : "";
}

std::string threshold_words(double threshold) {
  return figures::change(threshold);
}

std::string threshold_words(const std::vector<double>& thresholds) {
  std::string words;
  const auto all = each_once(thresholds);
  for (const double each : all) words += (words.empty() ? "" : " or ") + threshold_words(each);
  return all.size() > 1 ? words + " (each series its own)" : words;
}

std::vector<double> each_once(std::vector<double> thresholds) {
  std::ranges::sort(thresholds, std::greater{});
  const auto [first, last] = std::ranges::unique(thresholds);
  thresholds.erase(first, last);
  return thresholds;
}

std::string interval_heading(double confidence) {
  return figures::confidence(confidence) + " interval";
}

std::vector<double> finite(const std::vector<double>& values) {
  std::vector<double> kept;
  std::ranges::copy_if(values, std::back_inserter(kept),
                       [](double value) { return std::isfinite(value); });
  return kept;
}

}  // namespace torchwatch::drawing
