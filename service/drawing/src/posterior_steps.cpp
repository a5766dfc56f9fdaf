#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "torchwatch/canvas/svg.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/posterior.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {
namespace {

constexpr std::size_t kShortSha = 12;
constexpr double kMostMass = 0.95;

std::string short_sha(const SearchedCommit& commit) {
  return one_line(commit.sha.substr(0, kShortSha));
}

double mass_at(const PosteriorStep& step, std::size_t commit) {
  if (commit >= step.masses.size() || !std::isfinite(step.masses[commit])) return 0;
  return std::clamp(step.masses[commit], 0.0, 1.0);
}

std::vector<double> masses_of(const PosteriorSteps& steps, const PosteriorStep& step) {
  std::vector<double> masses;
  for (std::size_t i = 0; i < steps.commits.size(); ++i) masses.push_back(mass_at(step, i));
  return masses;
}

/// How many commits the column of this one stands for.
std::size_t commits_in(const SearchedCommit& commit) {
  return commit.untried_before + 1;
}

std::size_t commits_in(const PosteriorSteps& steps) {
  std::size_t count = 0;
  for (const auto& commit : steps.commits) count += commits_in(commit);
  return count;
}

/// How many commits hold 95 % of what is believed. Nothing was read between those of one column, so
/// each has the same part of it.
std::size_t count_of_most(const PosteriorSteps& steps, const std::vector<double>& columns) {
  std::vector<double> masses;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto commits = commits_in(steps.commits[i]);
    masses.insert(masses.end(), commits, columns[i] / static_cast<double>(commits));
  }
  std::ranges::sort(masses, std::greater());
  double sum = 0;
  std::size_t count = 0;
  for (const double mass : masses) {
    if (sum >= kMostMass || !(mass > 0)) break;
    sum += mass;
    ++count;
  }
  return count;
}

std::optional<std::size_t> most_likely(const std::vector<double>& masses) {
  const auto found = std::ranges::max_element(masses);
  if (found == masses.end() || !(*found > 0)) return std::nullopt;
  return static_cast<std::size_t>(found - masses.begin());
}

/// "9fae01c2 +7.4 %", "before the first probe".
std::string probe_words(const PosteriorSteps& steps, const PosteriorStep& step) {
  if (!step.probe || *step.probe >= steps.commits.size()) return "before the first probe";
  const auto ratio = drawable(step.ratio);
  return short_sha(steps.commits[*step.probe]) + (ratio ? " " + figures::change(*ratio) : "");
}

/// "9fae01c2 or one of 3 before it".
std::string name_of(const SearchedCommit& commit) {
  const auto sha = short_sha(commit);
  if (commit.untried_before == 0) return sha;
  if (commit.untried_before == 1) return sha + " or the one before it";
  return fmt::format("{} or one of {} before it", sha, commit.untried_before);
}

std::string believed_words(const PosteriorSteps& steps, const PosteriorStep& step) {
  const auto masses = masses_of(steps, step);
  const auto first = most_likely(masses);
  if (!first) return "no commit is suspected";
  const auto most = count_of_most(steps, masses);
  return fmt::format("{} {}, {} {} {}", name_of(steps.commits[*first]),
                     figures::confidence(masses[*first]), figures::count(most, "commit"),
                     most == 1 ? "holds" : "hold", figures::share(kMostMass));
}

std::string summary(const PosteriorSteps& steps) {
  if (steps.steps.empty() || steps.commits.empty()) return "Nothing has been probed.";
  const auto probes =
      std::ranges::count_if(steps.steps, [](const auto& step) { return step.probe.has_value(); });
  return fmt::format("{}, {}. Now: {}.", figures::count(commits_in(steps), "commit"),
                     figures::count(static_cast<std::size_t>(probes), "probe"),
                     believed_words(steps, steps.steps.back()));
}

std::string_view word_of(CommitState state) {
  switch (state) {
    case CommitState::searched:
      return "searched";
    case CommitState::folded:
      return "cannot change the library";
    case CommitState::unbuildable:
      return "does not build";
    case CommitState::suspect:
      return "possible culprit";
    case CommitState::culprit:
      break;
  }
  return "culprit";
}

/// The words for the states that commits have here, in the order of culprit, suspect, searched,
/// folded and unbuildable; one without words is left out.
std::string legend_of(const PosteriorSteps& steps, const std::array<std::string_view, 5>& words) {
  constexpr std::array kOrder{CommitState::culprit, CommitState::suspect, CommitState::searched,
                              CommitState::folded, CommitState::unbuildable};
  std::string text;
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    const bool occurs = std::ranges::count(steps.commits, kOrder[i], &SearchedCommit::state) > 0;
    if (occurs && !words[i].empty()) text += (text.empty() ? "" : ", ") + std::string(words[i]);
  }
  return text.empty() ? "" : text + ".";
}

/// Where neighbours share a column because there are more commits than columns.
struct Columns {
  std::size_t commits = 0;
  std::size_t shown = 0;

  std::size_t of(std::size_t commit) const {
    return commit * shown / std::max<std::size_t>(commits, 1);
  }
};

std::vector<double> sums(const std::vector<double>& masses, const Columns& columns) {
  std::vector<double> shown(columns.shown, 0);
  for (std::size_t i = 0; i < masses.size(); ++i) shown[columns.of(i)] += masses[i];
  return shown;
}

struct Grid {
  Columns columns;
  double left = 0;
  double step = 0;
  double row = 30;

  double at(std::size_t column) const { return left + static_cast<double>(column) * step; }
  double middle(std::size_t commit) const { return at(columns.of(commit)) + step / 2; }
};

void draw_step(Svg& svg, const PosteriorSteps& steps, const PosteriorStep& step, const Grid& grid) {
  const double top = svg.y();
  const auto masses = sums(masses_of(steps, step), grid.columns);
  svg.open(probe_words(steps, step) + " " + interval_cell(drawable(step.interval)) + ": " +
           believed_words(steps, step) + (step.why.empty() ? "" : "; why: " + step.why));
  const double words_y = svg.is_narrow() ? top - 4 : top + 18;
  svg.text(0, words_y, "code", probe_words(steps, step));
  svg.box(grid.left, top, grid.step * static_cast<double>(grid.columns.shown), grid.row - 2,
          "cell");
  const double largest = std::max(std::ranges::max(masses), 1e-9);
  if (svg.is_narrow()) {
    svg.text(svg.width(), words_y, "quiet end", "largest " + figures::confidence(largest));
  }
  for (std::size_t i = 0; i < masses.size(); ++i) {
    if (!(masses[i] > 0)) continue;
    const double height = (grid.row - 4) * masses[i] / largest;
    svg.box(grid.at(i), top + grid.row - 2 - height, std::max(grid.step - 1, 0.8), height, "mass");
    const auto words = figures::confidence(masses[i]);
    if (masses[i] < 0.005 || units_of(words) + 2 > grid.step) continue;
    const bool is_inside = height > 16;
    svg.text(grid.at(i) + grid.step / 2, top + grid.row - (is_inside ? 8 : height + 5),
             is_inside ? "on middle" : "middle", words);
  }
  if (step.probe && *step.probe < steps.commits.size()) {
    svg.box(grid.at(grid.columns.of(*step.probe)), top, grid.step, grid.row - 2, "ring");
  }
  svg.close();
  svg.down(grid.row + (svg.is_narrow() ? 16 : 0));
}

/// What each commit is, below its column.
void draw_states(Svg& svg, const PosteriorSteps& steps, const Grid& grid) {
  const double y = svg.y() + 10;
  for (std::size_t i = 0; i < steps.commits.size(); ++i) {
    const auto& commit = steps.commits[i];
    const double x = grid.middle(i);
    svg.open(fmt::format("{} {}: {}", short_sha(commit), one_line(commit.subject),
                         word_of(commit.state)),
             commit.link);
    const double size = std::clamp(grid.step / 2 - 0.5, 1.0, 4.0);
    if (commit.state == CommitState::searched) svg.path(circle(x, y, size), "same solid");
    if (commit.state == CommitState::folded) {
      svg.hatched(grid.at(grid.columns.of(i)), y - 5, std::max(grid.step - 1, 1.0), 10);
    }
    if (commit.state == CommitState::unbuildable) svg.path(cross(x, y, size), "broken");
    if (commit.state == CommitState::suspect) svg.path(triangle_up(x, y, 6), "unsure solid");
    if (commit.state == CommitState::culprit) svg.path(triangle_up(x, y, 6), "worse solid");
    svg.close();
  }
  svg.down(22);
}

/// What stands before the belief in a commit that the search came to.
std::string_view mark_of(CommitState state) {
  if (state == CommitState::culprit) return "▲ culprit, ";
  return state == CommitState::suspect ? "△ possible culprit, " : "";
}

/// The commits that people want to know, in words: culprits and what is believed most.
void draw_named(Svg& svg, const PosteriorSteps& steps) {
  constexpr std::size_t kMost = 5;
  constexpr double kBold = 1.1;  // bold text is wider
  const auto masses = masses_of(steps, steps.steps.back());
  std::vector<std::size_t> order(steps.commits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return masses[i] + (mark_of(steps.commits[i].state).empty() ? 0 : 1);
  });
  for (std::size_t rank = 0; rank < std::min(kMost, order.size()); ++rank) {
    const auto& commit = steps.commits[order[rank]];
    const auto mark = mark_of(commit.state);
    if (mark.empty() && masses[order[rank]] < 0.01) break;
    svg.down(16);
    svg.open("", commit.link);
    svg.text(0, svg.y(), "code", short_sha(commit));
    svg.close();
    const auto belief = std::string(mark) + "top row " + figures::confidence(masses[order[rank]]) +
                        (commit.subject.empty() ? "" : ": ");
    const auto left = svg.width() - 100 - kBold * units_of(belief);
    svg.text(96, svg.y(), mark.empty() ? "" : "bold",
             belief + fitting_bold(one_line(commit.subject), left));
  }
}

}  // namespace

std::string svg_of(const PosteriorSteps& steps) {
  Svg svg(steps.frame, steps.title, summary(steps));
  if (steps.steps.empty() || steps.commits.empty()) return svg.finished();
  constexpr double kLeast = 3;  // units that a column needs to be seen
  const double left = svg.is_narrow() ? 0 : 170;
  const double wide = svg.width() - left;
  const auto shown = std::min(steps.commits.size(), static_cast<std::size_t>(wide / kLeast));
  const Grid grid{.columns = {steps.commits.size(), shown},
                  .left = left,
                  .step = std::min(wide / static_cast<double>(shown), 72.0)};
  svg.down(svg.is_narrow() ? 20 : 6);
  for (auto step = steps.steps.rbegin(); step != steps.steps.rend(); ++step) {
    draw_step(svg, steps, *step, grid);
  }
  if (!svg.is_narrow()) svg.text(0, svg.y() + 14, "quiet", "oldest commit left");
  draw_states(svg, steps, grid);
  draw_named(svg, steps);
  svg.down(4);
  const bool is_each_tried = commits_in(steps) == steps.commits.size();
  svg.notes(
      std::string("A column is a commit") +
      (is_each_tried ? "" : " that was tried, with those before it that were not") +
      ", oldest left; a row is what is believed after a probe, newest on top. A bar's height is "
      "its part of the row's largest; the ring is the probed commit. " +
      legend_of(steps, {"▲ culprit", "△ possible culprit", "○ searched",
                        "striped: cannot change the library", "× does not build"}));
  return svg.finished();
}

namespace {

std::string_view shade(double mass) {
  if (mass >= 0.5) return "█";
  if (mass >= 0.1) return "▓";
  if (mass >= 0.01) return "▒";
  return mass >= 0.001 ? "░" : "·";
}

char letter_of(CommitState state) {
  switch (state) {
    case CommitState::searched:
      return '.';
    case CommitState::folded:
      return '-';
    case CommitState::unbuildable:
      return 'x';
    case CommitState::suspect:
      return '?';
    case CommitState::culprit:
      break;
  }
  return '^';
}

}  // namespace

std::string text_of(const PosteriorSteps& steps, int columns) {
  const int wide = bounded(columns);
  std::string text = paragraph(steps.title, wide) + paragraph(summary(steps), wide);
  if (steps.steps.empty() || steps.commits.empty()) return text;
  constexpr std::size_t kLabel = 23;  // "before the first probe "
  const Columns grid{steps.commits.size(),
                     std::min(steps.commits.size(), static_cast<std::size_t>(wide) - kLabel)};
  for (auto step = steps.steps.rbegin(); step != steps.steps.rend(); ++step) {
    text += padded(probe_words(steps, *step), kLabel);
    for (const double mass : sums(masses_of(steps, *step), grid)) text += shade(mass);
    text += '\n';
  }
  std::string states(grid.shown, '-');
  for (std::size_t i = 0; i < steps.commits.size(); ++i) {
    auto& letter = states[grid.of(i)];
    const auto rank = [](char each) { return std::string_view("-x.?^").find(each); };
    if (rank(letter_of(steps.commits[i].state)) > rank(letter))
      letter = letter_of(steps.commits[i].state);
  }
  const auto legend = legend_of(steps, {"^ culprit", "? possible culprit", "",
                                        "- cannot change the library", "x does not build"});
  return text + padded("oldest commit left", kLabel) + states + "\n" +
         paragraph("█ from 50 %, ▓ from 10 %, ▒ from 1 %, ░ from 0.1 %" +
                       (legend.empty() ? "." : "; " + legend),
                   wide);
}

Table table_of(const PosteriorSteps& steps) {
  Table table{{"probe", "change", interval_heading(steps.confidence), "most likely",
               "its probability", "commits with 95 %"},
              {}};
  for (auto step = steps.steps.rbegin(); step != steps.steps.rend(); ++step) {
    const auto masses = masses_of(steps, *step);
    const auto first = most_likely(masses);
    const auto ratio = drawable(step->ratio);
    const bool is_probe = step->probe && *step->probe < steps.commits.size();
    table.rows.push_back(
        {is_probe ? short_sha(steps.commits[*step->probe]) : "",
         ratio ? figures::change(*ratio) : "", interval_cell(drawable(step->interval)),
         first ? name_of(steps.commits[*first]) : "",
         first ? figures::confidence(masses[*first]) : "",
         figures::grouped(static_cast<std::int64_t>(count_of_most(steps, masses)))});
  }
  return table;
}

}  // namespace torchwatch::drawing
