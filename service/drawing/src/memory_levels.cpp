#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/strip.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {
namespace {

constexpr Metric kLevel = Metric::cpu_peak;  // in bytes
constexpr Metric kSlope = Metric::leak_growth;

/// One side's levels, with the numbers of their iterations.
struct Levels {
  std::vector<double> at;
  std::vector<double> bytes;
  std::optional<double> slope;
};

Levels levels_of(const std::vector<double>& bytes, std::optional<double> slope) {
  Levels levels;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!std::isfinite(bytes[i])) continue;
    levels.at.push_back(static_cast<double>(i + 1));
    levels.bytes.push_back(bytes[i]);
  }
  if (slope && std::isfinite(*slope)) levels.slope = slope;
  return levels;
}

struct Both {
  Levels baseline;
  Levels candidate;

  explicit Both(const MemoryLevels& memory)
      : baseline(levels_of(memory.baseline_bytes, memory.baseline_slope)),
        candidate(levels_of(memory.candidate_bytes, memory.candidate_slope)) {}
  bool empty() const { return baseline.bytes.empty() && candidate.bytes.empty(); }
};

std::string sentence(const Levels& levels) {
  if (levels.bytes.empty()) return "not measured";
  auto text = fmt::format("from {} to {} in {}", figures::value(kLevel, levels.bytes.front()),
                          figures::value(kLevel, levels.bytes.back()),
                          figures::count(levels.bytes.size(), "iteration"));
  if (levels.slope) text += ", fitted slope " + figures::difference(kSlope, *levels.slope);
  return text;
}

std::string summary(const MemoryLevels& memory, const Both& both) {
  if (both.empty()) return "No iteration has been measured.";
  return fmt::format("Live bytes. Baseline {}: {}. Candidate {}: {}. Less is better.",
                     one_line(memory.baseline), sentence(both.baseline), one_line(memory.candidate),
                     sentence(both.candidate));
}

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

/// The levels as marks and a curve, and the fitted line through their middle.
void draw(Svg& svg, const Scale& across, const Scale& up, const Levels& levels,
          std::string_view side, std::string_view marks) {
  std::string curve;
  std::string dots;
  for (std::size_t i = 0; i < levels.at.size(); ++i) {
    const double x = across.at(levels.at[i]);
    const double y = up.at(levels.bytes[i]);
    curve += (i == 0 ? "M" : "L") + coordinate(x) + " " + coordinate(y);
    dots += dot(x, y);
  }
  svg.path(curve, fmt::format("curve {}", side));
  svg.path(dots, fmt::format("{} {}", marks, side));
  if (!levels.slope || levels.at.size() < 2) return;
  const double middle = mean_of(levels.at);
  const auto fitted = [&](double at) {
    return up.at(mean_of(levels.bytes) + *levels.slope * (at - middle));
  };
  svg.line(across.at(levels.at.front()), fitted(levels.at.front()), across.at(levels.at.back()),
           fitted(levels.at.back()), fmt::format("fit {}", side));
}

/// The sides' names behind the ends of their curves, a line apart.
void name_ends(Svg& svg, const Scale& across, const Scale& up, const Both& both) {
  constexpr double kApart = 7;
  const auto name = [&](const Levels& levels, const Levels& other, const char* side) {
    if (levels.bytes.empty()) return;
    double y = up.at(levels.bytes.back());
    if (!other.bytes.empty() && std::abs(y - up.at(other.bytes.back())) < 2 * kApart) {
      const bool is_lower =
          levels.bytes.back() < other.bytes.back() ||
          (levels.bytes.back() == other.bytes.back() && &levels == &both.baseline);
      y += is_lower ? kApart : -kApart;
    }
    svg.text(across.end + 6, y + 4, "", side);
  };
  name(both.baseline, both.candidate, "baseline");
  name(both.candidate, both.baseline, "candidate");
}

}  // namespace

std::string svg_of(const MemoryLevels& memory) {
  const Both both(memory);
  Svg svg(memory.frame, memory.title, summary(memory, both));
  if (both.empty()) return svg.finished();
  constexpr double kHeight = 200;
  const double left = 76;
  const double top = svg.y();
  const double bottom = top + kHeight;
  auto all = both.baseline.bytes;
  all.insert(all.end(), both.candidate.bytes.begin(), both.candidate.bytes.end());
  const auto up = scale_over(all, bottom, top);
  const auto last = static_cast<double>(
      std::max({memory.baseline_bytes.size(), memory.candidate_bytes.size(), std::size_t{2}}));
  const Scale across{1, last, left + 8, svg.width() - 68};
  for (const double level : ticks(up, 5, kLevel)) {
    svg.line(left, up.at(level), across.end, up.at(level), "grid");
    svg.text(left - 6, up.at(level) + 4, "quiet end", figures::value(kLevel, level));
  }
  svg.line(left, bottom, across.end, bottom, "frame");
  draw(svg, across, up, both.baseline, "baseline", "dots");
  draw(svg, across, up, both.candidate, "candidate", "squares");
  name_ends(svg, across, up, both);
  svg.text(across.begin, bottom + 16, "quiet", "iteration 1");
  svg.text(across.end, bottom + 16, "quiet end", figures::grouped(std::llround(last)));
  svg.down(kHeight + 20);
  svg.notes(
      "Live bytes after each iteration. Round: baseline, square: candidate; dashed: the "
      "fitted slope. The axis does not begin at zero.");
  return svg.finished();
}

std::string text_of(const MemoryLevels& memory, int columns) {
  const int wide = bounded(columns);
  const Both both(memory);
  std::string text = paragraph(memory.title, wide);
  if (both.empty()) return text + paragraph(summary(memory, both), wide);
  constexpr std::size_t kLabel = 10;
  const auto most = static_cast<std::size_t>(wide) - kLabel;
  const auto baseline = thinned(both.baseline.bytes, most);
  const auto candidate = thinned(both.candidate.bytes, most);
  auto all = baseline;
  all.insert(all.end(), candidate.begin(), candidate.end());
  const auto [least, greatest] = std::ranges::minmax(all);
  text += padded("baseline", kLabel) + strip(baseline, least, greatest) + "\n" +
          paragraph(sentence(both.baseline), wide) + padded("candidate", kLabel) +
          strip(candidate, least, greatest) + "\n" + paragraph(sentence(both.candidate), wide);
  return text + paragraph("Live bytes after each iteration, on one scale; less is better.", wide);
}

Table table_of(const MemoryLevels& memory) {
  Table table{{"iteration", "baseline", "candidate"}, {}};
  const auto cell = [](const std::vector<double>& bytes, std::size_t i) {
    if (i >= bytes.size() || !std::isfinite(bytes[i])) return std::string();
    return figures::grouped(std::llround(bytes[i])) + " bytes";
  };
  const auto last = std::max(memory.baseline_bytes.size(), memory.candidate_bytes.size());
  for (std::size_t i = 0; i < last; ++i) {
    table.rows.push_back({figures::grouped(static_cast<std::int64_t>(i) + 1),
                          cell(memory.baseline_bytes, i), cell(memory.candidate_bytes, i)});
  }
  return table;
}

}  // namespace torchwatch::drawing
