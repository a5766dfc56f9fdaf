#include "glossary.hpp"
#include "items.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::pages {
namespace {

/// Takes the next line off a text.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// The cells of "| word | meaning |"; nothing for another line, and for the rule below a head.
std::vector<html::Cell> cells_of(std::string_view line) {
  std::vector<html::Cell> cells;
  if (!line.starts_with("| ") || !line.ends_with('|')) return cells;
  line = line.substr(1, line.size() - 2);
  while (true) {
    const auto end = line.find('|');
    cells.emplace_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

/// The words of one heading of the glossary.
html::Fragment words_section(std::string_view heading, html::Rows rows) {
  if (rows.size() < 2) return {};
  rows.erase(rows.begin());  // "word", "meaning"
  return html::section(heading, html::table({.columns = {{"word", html::Cells::words}, {"meaning"}},
                                             .rows = std::move(rows)}));
}

/// The glossary: its tables, a section each, and all words in one table.
struct Glossary {
  html::Fragment sections;
  html::Table words = {.columns = {{"word", html::Cells::words}, {"meaning"}}};

  void add(std::string_view heading, html::Rows rows) {
    sections += words_section(heading, rows);
    for (std::size_t i = 1; i < rows.size(); ++i) words.rows.push_back(std::move(rows[i]));
  }
};

Glossary glossary() {
  Glossary glossary;
  std::string_view rest = kGlossary;
  std::string heading;
  html::Rows rows;
  while (!rest.empty()) {
    const auto line = take_line(rest);
    auto cells = cells_of(line);
    if (cells.size() == 2) rows.push_back(std::move(cells));
    if (!line.starts_with("## ")) continue;
    glossary.add(heading, std::move(rows));
    rows.clear();
    heading = line.substr(3);
  }
  glossary.add(heading, std::move(rows));
  return glossary;
}

html::Fragment reading_guide(const View& view) {
  const auto threshold = figures::change(view.sources.threshold);
  const auto confidence = figures::confidence(view.confidence);
  return html::section(
      "How a verdict is read",
      html::list(
          {html::text("A change is the candidate compared with the baseline: `+` is slower or more "
                      "memory, which is worse; `-` is better."),
           html::text("The interval behind it holds the true change with " + confidence +
                      " confidence, unless its heading says otherwise."),
           html::text("A baseline's value is the median of its runs. A time's change is estimated "
                      "from pairs of runs, and the candidate's value in a table follows from both; "
                      "its twin `.json`, exports and drawings have the median of its own runs."),
           html::text("A time is called regressed or improved only when its estimated change "
                      "reached the gate, " +
                      figures::change(view.sources.gate) +
                      ", and showed again in fresh processes. Only what is called so is coloured."),
           html::text("unchanged means: no change of " + threshold + " or more, either way."),
           html::text(
               "exactly +0.7 % means: all runs of each build agree to the byte, so the change "
               "is real; from " +
               figures::change(view.sources.exact_threshold) +
               " on ([detect] exact_threshold) it is regressed or improved. Drawings show the "
               "threshold of the series that they draw."),
           html::text("inconclusive means: too noisy, or too few comparable runs. It is neither "
                      "good nor bad."),
           html::text("A commit is named after it was measured against its parent; the figure "
                      "beside it says how sure that is.")}),
      "reading");
}

/// Says what `regressed` asks for, with the numbers that hold here.
html::Fragment formula(const View& view) {
  const auto& sources = view.sources;
  const auto half = 1 + (sources.threshold - 1) / 2;
  return html::section(
      "The formula",
      html::list(
          {html::text("A run is one fresh process, its value the median of its samples. Runs of "
                      "both builds pair up; each pair gives the logarithm of candidate over "
                      "baseline. The change is their Hodges-Lehmann estimate, the median of the "
                      "means of any two."),
           html::text(
               "A time regressed when, on fresh pairs alone, the estimate reaches the gate, " +
               figures::change(sources.gate) +
               "; its signed-rank bound lies above half of "
               "the threshold, " +
               figures::change(half) +
               "; and a trimmed t statistic (Yuen) differs from 0 within the series' share "
               "of the error budget, false incidents per year: " +
               figures::number(sources.false_incidents_per_year) + "."),
           html::text("Memory regressed when every run of the candidate exceeds every run of the "
                      "baseline by more than " +
                      figures::change(sources.threshold) +
                      " and by the metric's least number of bytes; a leak by those bytes alone. "
                      "Where all runs of each build agree to the byte, it is " +
                      figures::change(sources.exact_threshold) + "."),
           html::text("[detect] thresholds may name other numbers for single series.")}),
      "formula");
}

html::Fragment addresses_guide() {
  return html::section(
      "Addresses",
      html::list(
          {html::text("Pages of data have twins: `.json` is the API's answer, `.md` the text, "
                      "`.csv` the table, as in `/comparisons.csv`. Every page has its `.md`; "
                      "one without a table has no `.csv`, one that the API does not know no "
                      "`.json`."),
           html::text("`/nightlies/NAME` shows the comparison of a nightly, `/compare/A...B` those "
                      "of two builds."),
           html::text("What a page shows stands in its address; defaults are left out.")}),
      "addresses");
}

/// The keys that the script knows, in its order.
html::Table keys_table() {
  using html::Cells;
  const std::string chart = "in a chart";
  const std::string map = "in a heat map";
  return {.columns = {{"key", Cells::words}, {"what it does"}, {"where", Cells::words}},
          .rows = {{"?", "Show these keys", ""},
                   {"/", "Search", ""},
                   {"Ctrl+K", "Search", ""},
                   {"a", "Decide on the incident: to the reason", ""},
                   {"j", "Next row", ""},
                   {"k", "Row before", ""},
                   {"x", "Choose the row, or no longer", ""},
                   {"c", "Compare the two chosen rows", ""},
                   {"m", "Copy as Markdown: chosen rows, the section, or the page", ""},
                   {"e", "Download the table as CSV", ""},
                   {"f", "Filter the table", ""},
                   {"[", "Nightly before, or older ones", ""},
                   {"]", "Nightly after", ""},
                   {"Enter", "Open", "on a row"},
                   {"←", "Point before", chart},
                   {"→", "Next point", chart},
                   {"Home", "Oldest point", chart},
                   {"End", "Newest point", chart},
                   {"+", "Zoom in", chart},
                   {"-", "Zoom out", chart},
                   {"p", "Pin the point; two pins compare", chart},
                   {"←", "Cell to the left", map},
                   {"→", "Cell to the right", map},
                   {"↑", "Cell above", map},
                   {"↓", "Cell below", map},
                   {"Enter", "Open the series", map}}};
}

html::Fragment keys_guide() {
  return html::section(
      "Keys",
      html::paragraph(html::text(
          "They work in a browser that runs the pages' script; ? and the button Keys list them "
          "there. Single letters and signs can be turned off; the browser remembers it. Without "
          "the script every page says the same, and links do what keys do.")) +
          html::table(keys_table()),
      "keys");
}

html::Fragment commands_guide() {
  return html::section(
      "Commands",
      html::list({html::text("`torchwatch status`: is anything wrong?"),
                  html::text("`torchwatch comparison show`: what the newest nightly brought"),
                  html::text("`torchwatch incident show ID`: an incident with its evidence"),
                  html::text("`torchwatch compare A B`: two builds, side by side"),
                  html::text("`torchwatch bisect --suspect SHA`: did this commit do it?")}),
      "commands");
}

}  // namespace

Result<Page> make_help(const View& view) {
  TW_TRY_VOID(http::refuse_parameters(view.request));
  auto words = glossary();
  return Page{.title = "Help",
              .content = html::title("Help") + reading_guide(view) + formula(view) +
                         addresses_guide() + keys_guide() + commands_guide() + words.sections,
              .csv = std::move(words.words)};
}

}  // namespace torchwatch::pages
