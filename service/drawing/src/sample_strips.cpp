#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/strip.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::drawing {
namespace {

char letter(Side side) {
  return side == Side::baseline ? 'A' : 'B';
}

std::string_view stage(const StripRun& run) {
  return run.is_confirmation ? "confirmation" : "screening";
}

std::string_view word(Side side) {
  return side == Side::baseline ? "baseline" : "candidate";
}

/// The runs without what cannot be drawn.
std::vector<StripRun> drawable_runs(const SampleStrips& strips) {
  auto runs = strips.runs;
  for (auto& run : runs) run.samples = finite(run.samples);
  std::erase_if(runs, [](const auto& run) { return !std::isfinite(run.median); });
  return runs;
}

/// The median of a side's runs; nothing without a run.
std::optional<double> side_median(const std::vector<StripRun>& runs, Side side) {
  std::vector<double> medians;
  for (const auto& run : runs) {
    if (run.side == side) medians.push_back(run.median);
  }
  if (medians.empty()) return std::nullopt;
  return median(std::move(medians));
}

std::string summary(const SampleStrips& strips, const std::vector<StripRun>& runs) {
  if (runs.empty()) return "No run has been measured.";
  const auto value = [&](Side side) {
    const auto middle = side_median(runs, side);
    return middle ? figures::value(strips.metric, *middle) : "not measured";
  };
  const auto ratio = drawable(strips.ratio);
  return fmt::format("Median {} with A, {} with B{}; {}. A is {}, B is {}.", value(Side::baseline),
                     value(Side::candidate),
                     ratio ? ": " + change_words(*ratio, strips.metric) +
                                 interval_words(drawable(strips.interval), strips.confidence)
                           : "",
                     direction(strips.metric), one_line(strips.baseline),
                     one_line(strips.candidate));
}

/// All samples and medians, without the most extreme hundredth on either side where it alone would
/// make the drawing more than twice as wide.
std::vector<double> shown_values(const std::vector<StripRun>& runs) {
  std::vector<double> all;
  std::vector<double> medians;
  for (const auto& run : runs) {
    all.insert(all.end(), run.samples.begin(), run.samples.end());
    medians.push_back(run.median);
  }
  all.insert(all.end(), medians.begin(), medians.end());
  std::ranges::sort(all);
  const auto cut = all.size() / 100 + (all.size() > 20 ? 1 : 0);
  if (all.size() <= 2 * cut + 1) return all;
  std::vector<double> most(all.begin() + static_cast<std::ptrdiff_t>(cut),
                           all.end() - static_cast<std::ptrdiff_t>(cut));
  most.insert(most.end(), medians.begin(), medians.end());
  const auto [least, greatest] = std::ranges::minmax(most);
  return all.back() - all.front() > 2 * (greatest - least) ? most : all;
}

struct Layout {
  Scale scale;
  double row = 18;
};

void draw_run(Svg& svg, const Layout& layout, const StripRun& run, std::size_t place,
              Metric metric) {
  const double top = svg.y();
  const auto side = word(run.side);
  if (place % 2 == 1) svg.box(0, top, svg.width(), layout.row, "cell");
  const std::string_view shape = run.side == Side::baseline ? "dots " : "squares ";
  svg.open(fmt::format("run {}, {}, {}: {}, median {}", place, side, stage(run),
                       figures::count(run.samples.size(), "sample"),
                       figures::value(metric, run.median)));
  // Where rows are lower than text, not each has its name.
  const auto named = static_cast<std::size_t>(std::ceil(kTextSize / layout.row));
  if (place % named == 0) {
    svg.text(0, top + layout.row / 2 + 4, "quiet", fmt::format("{} {}", letter(run.side), place));
  }
  std::string dots;
  std::string beyond;
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(run.samples.size());
    const double x = layout.scale.at(run.samples[i]);
    const double y = top + 1 + share * (layout.row - 2);
    if (layout.scale.holds(run.samples[i])) {
      dots += dot(x, y);
      continue;
    }
    const double back = run.samples[i] > layout.scale.high ? -4 : 4;
    beyond += fmt::format("M{} {}l{} 3l{} 3", coordinate(x + back), coordinate(y - 3),
                          coordinate(-back), coordinate(back));
  }
  svg.path(dots, std::string(shape) + std::string(side));
  svg.path(beyond, "beyond");
  const double x = layout.scale.at(run.median);
  svg.line(x, top + 1, x, top + layout.row - 1, "bar " + std::string(side));
  svg.close();
  svg.down(layout.row);
}

/// Lines of both sides' medians and of the threshold, over all runs.
void draw_medians(Svg& svg, const Scale& scale, const SampleStrips& strips,
                  const std::vector<StripRun>& runs, double top) {
  const auto baseline = side_median(runs, Side::baseline);
  const auto candidate = side_median(runs, Side::candidate);
  if (candidate) {
    svg.line(scale.at(*candidate), top, scale.at(*candidate), svg.y(), "fit candidate");
  }
  if (!baseline) return;
  svg.line(scale.at(*baseline), top, scale.at(*baseline), svg.y(), "curve baseline");
  const double limit = *baseline * strips.threshold;
  // A leak begins at nothing, of which there is no share.
  if (*baseline <= 0 || !scale.holds(limit)) return;
  svg.line(scale.at(limit), top - 4, scale.at(limit), svg.y(), "threshold");
  const auto name = "A " + threshold_words(strips.threshold);
  const double half = units_of(name) / 2;
  svg.text(std::min(scale.at(limit), svg.width() - half), top - 7, "quiet middle", name);
}

/// The samples of one side in one stage, for the text.
struct Group {
  std::vector<std::int64_t> samples;
  std::vector<double> medians;
};

std::map<std::pair<bool, Side>, Group> groups_of(const std::vector<StripRun>& runs) {
  std::map<std::pair<bool, Side>, Group> groups;
  for (const auto& run : runs) {
    auto& group = groups[{run.is_confirmation, run.side}];
    for (const double sample : run.samples) group.samples.push_back(std::llround(sample));
    group.medians.push_back(run.median);
  }
  return groups;
}

/// " 2 samples lie outside.", if any do.
std::string outside_words(const std::vector<StripRun>& runs, const Scale& scale) {
  std::size_t outside = 0;
  for (const auto& run : runs) {
    for (const double sample : run.samples) outside += scale.holds(sample) ? 0 : 1;
  }
  if (outside == 0) return "";
  return " " + figures::count(outside, "sample") + (outside == 1 ? " lies" : " lie") + " outside.";
}

}  // namespace

std::string svg_of(const SampleStrips& strips) {
  const auto runs = drawable_runs(strips);
  Svg svg(strips.frame, strips.title, summary(strips, runs));
  if (runs.empty()) return svg.finished();
  constexpr double kAllRows = 720;
  const Layout layout{
      .scale = scale_over(shown_values(runs), 36, svg.width() - 8),
      .row = std::clamp(kAllRows / static_cast<double>(runs.size()), 3.0, 18.0),
  };
  svg.down(18);
  const double top = svg.y();
  std::vector<std::pair<double, std::string_view>> headings;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == 0 || runs[i].is_confirmation != runs[i - 1].is_confirmation) {
      svg.down(18);
      headings.emplace_back(svg.y() - 5, stage(runs[i]));
    }
    draw_run(svg, layout, runs[i], i + 1, strips.metric);
  }
  draw_medians(svg, layout.scale, strips, runs, top);
  svg.down(4);
  draw_ticks(svg, layout.scale, strips.metric, top, svg.y(), svg.is_narrow() ? 4 : 8);
  for (const auto& [y, name] : headings) svg.text(0, y, "bold halo", name);
  svg.down(20);
  svg.notes(
      fmt::format("Across: {}; {}. Each run is a row, in the order in which they ran; within it "
                  "samples go down in time. Round: A, square: B; thick bar: the run's "
                  "median; lines: medians of A (solid) and B (dashed).",
                  figures::name_of(strips.metric), direction(strips.metric)));
  return svg.finished();
}

std::string text_of(const SampleStrips& strips, int columns) {
  const int wide = bounded(columns);
  const auto runs = drawable_runs(strips);
  std::string text = paragraph(strips.title, wide) + paragraph(summary(strips, runs), wide);
  if (runs.empty()) return text;
  constexpr std::size_t kLabel = 14;  // "confirmation B"
  constexpr std::size_t kValue = 12;
  const auto plot = static_cast<std::size_t>(wide) - kLabel - kValue - 3;
  const auto scale = scale_over(shown_values(runs), 0, static_cast<double>(plot));
  text += std::string(kLabel + 1, ' ') +
          between(figures::value(strips.metric, scale.low),
                  figures::value(strips.metric, scale.high), plot) +
          "\n";
  std::string order;
  for (const auto& run : runs) order += letter(run.side);
  for (const auto& [key, group] : groups_of(runs)) {
    const std::string label =
        fmt::format("{} {}", key.first ? "confirmation" : "screening", letter(key.second));
    text += padded(label, kLabel) + "|" + distribution(group.samples, scale.low, scale.high, plot) +
            "|" + right(figures::value(strips.metric, median(group.medians)), kValue) + "\n";
  }
  return text + paragraph("Behind each strip the median of its runs, which ran in the order " +
                              order + "." + outside_words(runs, scale),
                          wide);
}

Table table_of(const SampleStrips& strips) {
  const auto value = [&](double ns) { return figures::value(strips.metric, ns); };
  Table table{{"run", "build", "stage", "samples", "median", "least", "greatest"}, {}};
  const auto runs = drawable_runs(strips);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    const bool is_empty = run.samples.empty();
    table.rows.push_back({fmt::format("{} {}", letter(run.side), i + 1),
                          std::string(word(run.side)), std::string(stage(run)),
                          figures::grouped(std::ssize(run.samples)), value(run.median),
                          is_empty ? "" : value(std::ranges::min(run.samples)),
                          is_empty ? "" : value(std::ranges::max(run.samples))});
  }
  return table;
}

}  // namespace torchwatch::drawing
