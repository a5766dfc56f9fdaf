#include <charconv>
#include <cmath>

#include "range_section.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/bisection.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/forms/actions.hpp"
#include "torchwatch/incidents/pages.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using report::TraceStep;
using Steps = std::vector<TraceStep>;

html::Cell commit_cell(const std::string& sha, const View& view) {
  return {short_sha(sha), view.to_commit(sha)};
}

/// Reads ?step=, 1 to the number of steps; all without it. Errors: invalid; not_found, for a step
/// that there is not.
Result<std::size_t> step_of(const View& view, std::size_t steps) {
  TW_TRY(const auto parameters, parameters_of(view, {"step"}));
  const auto given = parameters.find("step");
  if (given == parameters.end()) return steps;
  const auto& text = given->second;
  std::size_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && step >= 1 && step <= steps) return step;
  return fail(
      is_number && step > steps ? ErrorCode::not_found : ErrorCode::invalid,
      "invalid step \"" + text.substr(0, 100) + "\": must be 1 to " + std::to_string(steps));
}

/// The largest change that a step read.
std::string reading_of(const TraceStep& step) {
  if (step.readings.empty()) return "";
  const auto& reading = step.readings.front();
  const auto metric = reading.series.metric;
  const auto said = bisection::is_relative(metric) ? figures::change(std::exp(reading.effect))
                                                   : figures::difference(metric, reading.effect);
  const auto others = step.readings.size() - 1;
  return said + " " + to_string(reading.series) +
         (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

/// Where the culprit probably is after a step: "aaaa..bbbb 92.1 %".
std::string belief_of(const TraceStep& step) {
  if (step.probability <= 0) return "";
  return short_sha(step.after) + ".." + short_sha(step.up_to) + " " +
         figures::confidence(step.probability);
}

/// A step's sentence; strangers see none that quotes a reason.
std::string text_of(const TraceStep& step, const View& view) {
  const bool is_private = !view.is_trusted && !step.reason.empty();
  return is_private ? "a step whose reason is for readers with a token" : sentence_on(step);
}

html::Fragment steps_section(const Steps& steps, std::size_t shown, const View& view) {
  html::Rows rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto number = std::to_string(i + 1);
    rows.push_back({{number, view.with_parameter("step", i + 1 == steps.size() ? "" : number)},
                    text_of(steps[i], view),
                    reading_of(steps[i]),
                    belief_of(steps[i]),
                    steps[i].why ? sentence_on(*steps[i].why) : ""});
  }
  return html::table({.columns = {{"step", Cells::numbers},
                                  {"what was done"},
                                  {"change, more is worse"},
                                  {"the culprit is probably in"},
                                  {"why this step"}},
                      .rows = std::move(rows)});
}

/// Links to the step before, the step after and the end.
html::Fragment replay(std::size_t shown, std::size_t steps, const View& view) {
  auto line = html::text("Step " + std::to_string(shown) + " of " + std::to_string(steps) + ": ");
  const auto to = [&view, steps](std::size_t step) {
    return view.with_parameter("step", step == steps ? "" : std::to_string(step));
  };
  line += html::link(shown > 1 ? to(shown - 1) : "", "the one before") + html::text(" · ");
  line += html::link(shown < steps ? to(shown + 1) : "", "the next one") + html::text(" · ");
  line += html::link(shown < steps ? to(steps) : "", "the newest");
  return html::paragraph(line, "choice");
}

/// What comes next and why, of a search that has not ended; or what of it cannot be read.
html::Fragment next_paragraph(const storage::BisectionRow& row,
                              const report::SearchReplay& replay) {
  if (const auto unread = report::unread_text(replay, row); !unread.empty()) {
    return html::paragraph(html::text(unread + "."), "summary bad");
  }
  return replay.outlook ? html::paragraph(html::text(sentence_on(*replay.outlook)), "summary")
                        : html::Fragment();
}

/// What each commit that was tried reads by itself.
Result<html::Fragment> probes_section(const storage::BisectionRow& row, const Steps& steps,
                                      const View& view) {
  TW_TRY(auto drawn, evidence::probe_strips(context_of(view), row, steps));
  if (drawn.commits.empty()) return html::Fragment();
  drawn.frame.id = "probes";
  return html::section("What each commit reads",
                       figure_of(drawn, "The values of each commit that was tried, oldest left"),
                       "probes");
}

/// Where the percentages of the drawing and the culprit's differ, and how many commits have no
/// column.
html::Fragment matrix_notes(const storage::BisectionRow& row, const report::SearchedRange& range) {
  html::Fragment content;
  const auto counted = count_text(row, range);
  if (!counted.empty()) content += html::paragraph(html::text(counted));
  const auto result = bisection::parse_bisection_result(row.result_json);
  if (!result || result->culprits.empty()) return content;
  const auto& first = result->culprits.front();
  if (!(report::cause_of(first).confidence > 0)) return content;
  return content +
         html::paragraph(html::text(
             "A row is what was believed once its step was measured. The " +
             figures::confidence(first.confidence) +
             " of the culprit was reckoned later, when it was confirmed: its comparison with the "
             "commit before it is included there and has no row. Rows of steps after that are "
             "about another cause."));
}

/// The command that carries the search out again.
html::Fragment repeat_section(const storage::BisectionRow& row,
                              const report::SearchedRange& range) {
  if (range.series.empty()) return {};
  const auto& series = range.series.front();
  const auto count = range.series.size();
  const auto of = count == 1 ? "what changed " + to_string(series)
                             : "the first of its " + std::to_string(count) + " series";
  return html::section(
      "Search again",
      html::paragraph(html::text("This searches the range again, for " + of + ":")) +
          html::code_block(report::bisect_command(row.good, row.bad, series, range.preset)),
      "repeat");
}

Result<html::Fragment> search_section(const storage::BisectionRow& row,
                                      const report::SearchReplay& replayed,
                                      const report::SearchedRange& range, const View& view) {
  if (!view.sources.replay_of) return html::Fragment();
  auto steps = replayed.steps;
  TW_TRY(const auto shown, step_of(view, steps.size()));
  const auto next = next_paragraph(row, replayed);
  if (steps.empty()) {
    return html::section(
        "Steps", next.empty() ? html::paragraph(html::text("Nothing was measured yet.")) : next);
  }
  TW_TRY(const auto probes, probes_section(row, steps, view));
  TW_TRY(const auto commits, range_section(row, range, steps, view));
  const auto table = steps_section(steps, shown, view);
  const auto count = steps.size();
  steps.resize(shown);
  auto drawn = evidence::posterior_steps(context_of(view), row, steps);
  drawn.frame.id = "posterior";
  html::Fragment content = next + replay(shown, count, view);
  if (!drawn.steps.empty()) {
    content += figure_of(drawn,
                         "Where the culprit was believed to be after each step, newest on "
                         "top: the higher, the more probable") +
               matrix_notes(row, range);
  }
  return html::section("Steps", content + commits + table, "steps") + probes;
}

std::string limit_text(int spent, int at_most, const char* noun) {
  return figures::count(static_cast<std::size_t>(spent), noun) + ", at most " +
         figures::grouped(at_most);
}

/// What an open search is expected to cost yet: a commit that is tried tells at most one bit.
std::string expected_text(const report::SearchOutlook& outlook) {
  if (!outlook.next) return "nothing more";
  if (outlook.commits_left == 0) return "the culprit is verified, or the ends are";
  return "about " + figures::count(static_cast<std::size_t>(outlook.commits_left), "more commit") +
         " to try, each with a build at most; then the culprit against its parent";
}

/// "about 2 h 10 min, in nine of ten cases at most 5 h"; empty where too few have ended.
Result<std::string> usual_text(const storage::BisectionRow& row, const View& view) {
  TW_TRY(const auto items, evidence::queue_of(view.sources.database));
  for (const auto& item : items) {
    if (item.kind != storage::ItemKind::bisection || item.id != row.id || !item.estimate) continue;
    return "about " + figures::duration(item.estimate->likely) + ", in nine of ten cases at most " +
           figures::duration(item.estimate->at_most);
  }
  return std::string();
}

/// What an open search has cost so far, and what it is expected to cost.
html::Fragment cost_so_far(const report::SearchOutlook& outlook, double seconds,
                           const std::string& usual) {
  return html::section(
      "What it takes",
      html::facts({{"builds so far", limit_text(outlook.spent.builds, outlook.builds_max, "build")},
                   {"runs so far", limit_text(outlook.spent.runs, outlook.runs_max, "run")},
                   {"measured for", figures::duration(seconds)},
                   {"expected", expected_text(outlook)},
                   {"such a search takes", usual}}),
      "cost");
}

/// What the search cost, and what it could not build.
html::Fragment cost_section(const storage::BisectionRow& row, double seconds, const View& view) {
  const auto result = bisection::parse_bisection_result(row.result_json);
  if (row.state != storage::BisectionState::ended || !result) return {};
  const auto count = [](int number) { return std::to_string(number); };
  auto content =
      html::facts({{"outcome", spelling(result->outcome)},
                   {"commits", count(result->commits)},
                   {"folded", count(result->folded) + ", which cannot change the library"},
                   {"builds", report::builds_text(result->builds, result->made_elsewhere)},
                   {"runs", count(result->runs)},
                   {"measured for", figures::duration(seconds)},
                   {"reason", view.is_trusted ? result->reason : std::string()}});
  html::Rows rows;
  for (const auto& skipped : result->skipped) {
    rows.push_back({commit_cell(skipped.commit, view), view.is_trusted ? skipped.reason : ""});
  }
  if (!rows.empty()) {
    content += html::details(
        "Could not be built (" + std::to_string(result->skipped.size()) + ")",
        html::table({.columns = {{"commit", Cells::words}, {"reason"}}, .rows = std::move(rows)}));
  }
  return html::section("What it took", content);
}

std::string time_text(storage::WallMillis at) {
  return at == 0 ? "" : platform::date_and_minute(at) + " UTC";
}

std::string state_of(const storage::BisectionRow& row) {
  return std::string(to_string(row.state));
}

/// The culprit of a search in a list.
html::Cell culprit_cell(const storage::BisectionRow& row, const View& view) {
  const auto search = search_of(row, view);
  if (!search.causes.empty()) return cause_cell(search.causes, view);
  return row.state == storage::BisectionState::open ? "" : "no commit is blamed";
}

}  // namespace

Result<Page> make_bisections(const View& view) {
  TW_TRY(const auto page, http::page_of(view.request));
  TW_TRY(auto rows,
         storage::BisectionStore(view.sources.database).list(page.limit + 1, page.before));
  const auto more = cut_to(page, view, rows);
  html::Rows cells;
  for (const auto& row : rows) {
    const auto incident = row.incident ? std::to_string(*row.incident) : "";
    cells.push_back({{std::to_string(row.id), view.to_bisection(row.id)},
                     {incident, row.incident ? view.to_incident(*row.incident) : ""},
                     commit_cell(row.good, view),
                     commit_cell(row.bad, view),
                     culprit_cell(row, view),
                     state_of(row),
                     platform::date_and_minute(row.created_at)});
  }
  const auto content =
      html::title("Bisections") + html::table({.columns = {{"id", Cells::numbers},
                                                           {"incident", Cells::numbers},
                                                           {"last good", Cells::words},
                                                           {"first bad", Cells::words},
                                                           {"culprit"},
                                                           {"state", Cells::states},
                                                           {"begun, UTC", Cells::words}},
                                               .rows = std::move(cells)},
                                              "None yet.");
  return Page{.title = "Bisections", .content = content + more, .section = "Incidents"};
}

Result<Page> make_bisection(const View& view) {
  TW_TRY_VOID(parameters_of(view, {"step"}));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto row, storage::BisectionStore(view.sources.database).get(id));
  const auto& replay_of = view.sources.replay_of;
  const auto replayed = replay_of ? replay_of(row) : report::SearchReplay();
  const auto& range_of = view.sources.range_of;
  const auto range = range_of ? range_of(row) : report::SearchedRange();
  const auto& outlook = replayed.outlook;
  TW_TRY(const auto seconds, evidence::seconds_measured(context_of(view), row, replayed.steps));
  TW_TRY(const auto searched, search_section(row, replayed, range, view));
  TW_TRY(const auto waits, waits_for(storage::ItemKind::bisection, std::to_string(id), view));
  const auto name = "Bisection " + std::to_string(id);
  const auto search = search_of(row, view);
  auto content =
      html::title(name) + html::facts({{"for",
                                        {row.incident ? "incident " + std::to_string(*row.incident)
                                                      : std::string("a request"),
                                         row.incident ? view.to_incident(*row.incident) : ""}},
                                       {"state", state_of(row)},
                                       {"waiting", waits},
                                       {"last good", commit_cell(row.good, view)},
                                       {"first bad", commit_cell(row.bad, view)},
                                       {"begun", time_text(row.created_at)},
                                       {"ended", time_text(row.ended_at)}});
  content += forms::for_bisection(row, view);
  for (const auto& cause : search.causes) content += cause_section(cause, view);
  TW_TRY(const auto usual, usual_text(row, view));
  content += searched +
             (outlook ? cost_so_far(*outlook, seconds, usual) : cost_section(row, seconds, view));
  content += repeat_section(row, range);
  const auto runs = "api/v1/bisections/" + std::to_string(id) + "/runs";
  content += html::paragraph(html::link(view.root + runs, "Every run with its samples"));
  return Page{.title = name,
              .content = content,
              .section = "Incidents",
              .way = {{view.root + "bisections", "Bisections"}}};
}

}  // namespace torchwatch::pages
