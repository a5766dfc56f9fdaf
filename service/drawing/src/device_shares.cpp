#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "torchwatch/canvas/svg.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/nightly.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

constexpr std::array<std::string_view, 3> kNames{"active", "data movement", "idle"};

/// Nothing unless they are shares of a whole.
std::optional<std::array<double, 3>> parts_of(const std::optional<Shares>& shares) {
  if (!shares) return std::nullopt;
  std::array parts{shares->active, shares->copy, shares->idle};
  double sum = 0;
  for (const double part : parts) {
    if (!std::isfinite(part) || part < 0) return std::nullopt;
    sum += part;
  }
  if (!(sum > 0)) return std::nullopt;
  for (auto& part : parts) part /= std::max(sum, 1.0);
  return parts;
}

/// How the active share changed, in points: "+1.4 points".
std::string active_change(const SharesRow& row) {
  const auto before = parts_of(row.before);
  const auto after = parts_of(row.after);
  if (!before || !after) return "";
  return fmt::format("{:+.1f} points", ((*after)[0] - (*before)[0]) * 100 + 0.0);
}

std::string summary(const DeviceShares& drawing) {
  std::size_t count = 0;
  double before = 0;
  double after = 0;
  for (const auto& row : drawing.rows) {
    const auto first = parts_of(row.before);
    const auto second = parts_of(row.after);
    if (!first || !second) continue;
    before += (*first)[0];
    after += (*second)[0];
    ++count;
  }
  if (count == 0) return "No series was measured with both builds.";
  const auto n = static_cast<double>(count);
  return fmt::format(
      "Shares of an iteration. Active on average {} with {} and {} with {} over {} measured with "
      "both; more active is better used.",
      figures::share(before / n), one_line(drawing.before), figures::share(after / n),
      one_line(drawing.after), count == 1 ? "1 series" : fmt::format("{} series", count));
}

void draw_bar(Svg& svg, const std::optional<Shares>& shares, const std::string& name, double left) {
  constexpr double kHeight = 16;
  const double y = svg.y();
  svg.text(left - 6, y + 12, "quiet end", fitting(name, left - 10));
  const auto parts = parts_of(shares);
  if (!parts) {
    svg.text(left, y + 12, "quiet", "not measured");
    svg.down(kHeight + 2);
    return;
  }
  const double whole = svg.width() - left - 1;
  double x = left;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    constexpr std::array<std::string_view, 3> kClasses{"active", "copy", "idle"};
    const double width = (*parts)[i] * whole;
    svg.open(fmt::format("{} {}", kNames[i], figures::share((*parts)[i])));
    svg.box(x, y, width, kHeight, kClasses[i]);
    if (i == 1) svg.hatched(x, y, width, kHeight);
    const auto words = figures::share((*parts)[i]);
    if (i != 1 && units_of(words) + 6 < width) {
      svg.text(x + width / 2, y + 12, i == 0 ? "on middle" : "middle", words);
    }
    svg.close();
    x += width;
  }
  svg.down(kHeight + 2);
}

}  // namespace

std::string svg_of(const DeviceShares& drawing) {
  Svg svg(drawing.frame, drawing.title, summary(drawing));
  const double left = svg.is_narrow() ? 78 : 120;
  for (const auto& row : drawing.rows) {
    svg.down(16);
    svg.open("", row.link);
    svg.text(0, svg.y(), "bold", fitting(row.label, svg.width() - 130));
    svg.close();
    const auto change = active_change(row);
    if (!change.empty()) svg.text(svg.width(), svg.y(), "end", "active " + change);
    svg.down(5);
    draw_bar(svg, row.before, drawing.before, left);
    draw_bar(svg, row.after, drawing.after, left);
    svg.down(4);
  }
  if (!drawing.rows.empty()) {
    svg.notes(
        "Filled: active, striped: data movement, empty: idle; the whole bar is one iteration.");
  }
  return svg.finished();
}

namespace {

std::string bar_text(const std::optional<Shares>& shares, std::size_t columns) {
  constexpr std::array<std::string_view, 3> kBlocks{"█", "▒", "·"};
  const auto parts = parts_of(shares);
  if (!parts) return "not measured";
  std::string bar;
  double sum = 0;
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    sum += (*parts)[i];
    const auto until = static_cast<std::size_t>(std::llround(sum * static_cast<double>(columns)));
    for (; drawn < std::min(until, columns); ++drawn) bar += kBlocks[i];
  }
  return padded(bar, columns) + right(figures::share((*parts)[0]), 8);
}

}  // namespace

std::string text_of(const DeviceShares& drawing, int columns) {
  const int wide = bounded(columns);
  std::string text = paragraph(drawing.title, wide) + paragraph(summary(drawing), wide);
  if (drawing.rows.empty()) return text;
  constexpr std::size_t kLabel = 12;
  const auto bar = static_cast<std::size_t>(wide) - kLabel - 1 - 8;
  const auto name = [&](const std::string& build) {
    return padded(elided(one_line(build), kLabel), kLabel) + " ";
  };
  for (const auto& row : drawing.rows) {
    text += elided(one_line(row.label), static_cast<std::size_t>(wide)) + "\n" +
            name(drawing.before) + bar_text(row.before, bar) + "\n" + name(drawing.after) +
            bar_text(row.after, bar) + "\n";
  }
  return text + paragraph("█ active, with its share behind; ▒ data movement, · idle.", wide);
}

Table table_of(const DeviceShares& drawing) {
  Table table{{"series", "build", "active", "data movement", "idle", "change of active"}, {}};
  for (const auto& row : drawing.rows) {
    const auto add = [&](const std::string& build, const std::optional<Shares>& shares,
                         const std::string& change) {
      const auto parts = parts_of(shares);
      std::vector<std::string> cells{one_line(row.label), one_line(build)};
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        cells.push_back(parts ? figures::share((*parts)[i]) : "");
      }
      cells.push_back(change);
      table.rows.push_back(std::move(cells));
    };
    add(drawing.before, row.before, "");
    add(drawing.after, row.after, active_change(row));
  }
  return table;
}

}  // namespace torchwatch::drawing
