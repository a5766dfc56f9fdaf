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

/// The glossary's tables, a section each.
html::Fragment glossary() {
  html::Fragment content;
  std::string_view rest = kGlossary;
  std::string heading;
  html::Rows rows;
  while (!rest.empty()) {
    const auto line = take_line(rest);
    auto cells = cells_of(line);
    if (cells.size() == 2) rows.push_back(std::move(cells));
    if (!line.starts_with("## ")) continue;
    content += words_section(heading, std::move(rows));
    rows.clear();
    heading = line.substr(3);
  }
  return content + words_section(heading, std::move(rows));
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
           html::text("regressed and improved are called only what reached " + threshold +
                      " and showed again in fresh processes. Only these are coloured."),
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

html::Fragment addresses_guide() {
  return html::section(
      "Addresses",
      html::list(
          {html::text("Every page has twins: `.json` is the API's answer, `.md` the text, `.csv` "
                      "the table, as in `/comparisons.csv`."),
           html::text("`/nightlies/NAME` shows the comparison of a nightly, `/compare/A...B` those "
                      "of two builds."),
           html::text("What a page shows stands in its address; defaults are left out.")}),
      "addresses");
}

html::Fragment keys_guide() {
  return html::section(
      "Keys",
      html::paragraph(html::text(
          "In a browser that runs the pages' script, ? lists the keys of a page, and the button "
          "Keys does the same. Single letters can be turned off there; the browser remembers it. "
          "Without the script every page says the same, and links do what keys do.")),
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
  return Page{.title = "Help",
              .content = html::title("Help") + reading_guide(view) + addresses_guide() +
                         keys_guide() + commands_guide() + glossary()};
}

}  // namespace torchwatch::pages
