#include <cstdint>
#include <cstdlib>

#include "items.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/incidents/pages.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pages {
namespace {

using Parameters = std::map<std::string, std::string>;

const std::vector<std::string> kShown{"values", "changes", "logarithmic"};
constexpr int kValuesRead = 60;
/// A year of nightlies is shown whole; of a longer past no screen could show more.
constexpr std::size_t kPointsShown = 400;

/// What the page's path says, or else its query; the default where neither does.
std::string given(const View& view, const Parameters& parameters, const std::string& name,
                  std::string_view otherwise) {
  const auto part = view.request.path_parameters.find(name);
  const bool is_in_path = part != view.request.path_parameters.end();
  return is_in_path ? part->second : value_or(parameters, name, otherwise);
}

/// Reads the series that the path or the query names; without a workload where they name none.
/// Errors: not_found, when a word names nothing.
Result<Series> series_of(const Parameters& parameters, const View& view) {
  const auto read = [&]() -> Result<Series> {
    const auto word = [&](const std::string& name, std::string_view otherwise) {
      return given(view, parameters, name, otherwise);
    };
    Series series;
    series.benchmark.workload = word("workload", "");
    TW_TRY(series.benchmark.configuration, parse_configuration(word("configuration", "cpu-train")));
    TW_TRY(series.benchmark.variant, parse_variant(word("variant", "default")));
    TW_TRY(series.metric, parse_judged_metric(word("metric", "time")));
    return series;
  };
  auto series = read();
  if (series) return series;
  return fail(series.error().as(ErrorCode::not_found));
}

/// The same benchmark's other metrics, and its workload in other configurations.
Result<html::Fragment> neighbours(const Series& series, const View& view) {
  TW_TRY(const auto all,
         storage::RunStore(view.sources.database).all_series(series.benchmark.workload));
  std::vector<html::Fragment> items;
  for (const auto& other : all) {
    if (other == series) continue;
    items.push_back(html::link(view.to_series(other), to_string(other)));
  }
  if (items.empty()) return html::Fragment();
  return html::section("Other series of this model", html::list(items));
}

/// Why a series has no values, as far as that is known: what its workload's original refuses is
/// part of each nightly.
Result<std::string> why_without_values(const Series& series, const View& view) {
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  if (!newest.judged) return std::string("It has no values.");
  TW_TRY(const auto verdict, storage::verdict_on(view.sources.database, newest.judged->id, series));
  if (!verdict) return std::string("It has no values.");
  const bool shows_reason = view.is_trusted && !verdict->reason.empty();
  return "It has no values. In the newest nightly it is " +
         std::string(to_string(verdict->verdict)) + (shows_reason ? ": " + verdict->reason : "") +
         ".";
}

/// The page of a series without values. Errors: not_found, where its workload is not known either.
Result<Page> page_without_values(const Series& series, const View& view) {
  const auto& workload = series.benchmark.workload;
  TW_TRY_VOID(ask_for_json(view, "/api/v1/workloads/" + workload));
  const auto name = to_string(series);
  TW_TRY(const auto why, why_without_values(series, view));
  TW_TRY(const auto others, neighbours(series, view));
  return Page{.title = name,
              .content = html::title(name) + html::paragraph(html::text(why), "summary") + others,
              .section = "Models",
              .way = {{view.root + "models", "Models"}, {view.to_model(workload), workload}},
              .csv = html::Table{.columns = {{"nightly"}, {"value"}}}};
}

/// How much the newest verdict saw, and the smallest change that would have been found: the width
/// of its interval.
std::string newest_text(const drawing::History& history) {
  if (history.points.empty()) return "No nightly was judged on it yet.";
  const auto& newest = history.points.back();
  auto text = "Newest, " + newest.build + ": " +
              (history.is_ratio ? figures::change(newest.value)
                                : figures::value(history.metric, newest.value));
  if (history.is_ratio && newest.interval) {
    text += " " + figures::interval_with_unit(newest.interval->low, newest.interval->high);
  }
  return text + ", " + std::string(to_string(newest.verdict)) + ". Less is better.";
}

/// What two runs of one build differ by, and what the next comparison would find.
Result<html::Fragment> noise_facts(const Series& series, const View& view) {
  if (!view.sources.noise_of) return html::Fragment();
  TW_TRY(const auto noise, view.sources.noise_of(series));
  if (!noise) return html::facts({{"noise", "not known: too few pairs of runs yet"}});
  auto text = "the two runs of a pair differ by " + figures::spread(noise->spread) +
              " if both are of one build (spread of " + figures::count(noise->pairs, "pair") + ")";
  const auto& effect = noise->minimum_detectable_effect;
  if (effect) {
    text += "; minimum detectable effect of the next comparison " + figures::change(1 + *effect) +
            ", found nine times in ten";
  } else if (series.metric == Metric::time) {
    text += "; the next comparison would not even find a doubling";
  }
  return html::facts({{"noise", text}});
}

/// What the runs with those values state beside the metric.
Result<storage::ValuesOfRuns> beside_of(const Series& series,
                                        const std::vector<storage::RunValue>& values,
                                        const View& view) {
  std::vector<storage::Id> runs;
  for (const auto& value : values) runs.push_back(value.attempt);
  return evidence::beside(view.sources.database, series.metric, runs);
}

/// The newest of what stands beside the metric.
html::Fragment beside_facts(const storage::ValuesOfRuns& beside) {
  std::vector<std::pair<std::string_view, html::Cell>> facts;
  for (const auto& [metric, values] : beside) {
    facts.emplace_back(figures::name_of(metric),
                       figures::value(metric, static_cast<double>(values.rbegin()->second)) +
                           " in the newest run; not judged");
  }
  return facts.empty() ? html::Fragment() : html::facts(facts);
}

/// A cell for each metric that stands beside the series' own, empty where the run does not state
/// it.
void add_beside(std::vector<html::Cell>& row, const storage::ValuesOfRuns& beside,
                storage::Id run) {
  for (const auto& [metric, values] : beside) {
    const auto value = values.find(run);
    row.push_back(
        value == values.end() ? "" : figures::value(metric, static_cast<double>(value->second)));
  }
}

/// The newest values, each with its run and with what stands beside it.
Result<html::Fragment> runs_section(const Series& series,
                                    const std::vector<storage::RunValue>& values,
                                    const storage::ValuesOfRuns& beside, const View& view) {
  html::Rows rows;
  std::map<storage::Id, std::string> names;
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    if (!names.contains(value->build)) {
      TW_TRY(names[value->build], name_of_build(value->build, view));
    }
    const auto run = view.root + "api/v1/runs/" + std::to_string(value->attempt);
    rows.push_back({{platform::date_and_minute(value->measured_at)},
                    {names[value->build], view.to_build(value->build)},
                    {figures::value(series.metric, static_cast<double>(value->value)), run}});
    add_beside(rows.back(), beside, value->attempt);
    rows.back().push_back({value->is_thinned ? "" : "samples", run + "/samples"});
  }
  using html::Cells;
  const auto heading = "The newest " + figures::count(rows.size(), "run");
  html::Table table{.columns = {{"measured, UTC", Cells::words},
                                {"build"},
                                {std::string(figures::name_of(series.metric)), Cells::numbers}},
                    .rows = std::move(rows)};
  for (const auto& [metric, stated] : beside) {
    table.columns.push_back({std::string(figures::name_of(metric)), Cells::numbers});
  }
  table.columns.push_back({"raw", Cells::words});
  return html::details(heading, html::table(std::move(table)));
}

/// The drawing of a history; its table leads to comparisons, and has the numbers for the script.
html::Fragment past_figure(const drawing::History& history, const std::string& sentence) {
  constexpr int kColumns = 100;
  constexpr std::size_t kValue = 2;
  const auto [data, behind] = drawing::table_for_script(history);
  html::Table table;
  for (const auto& name : data.head) table.columns.push_back({name});
  if (history.is_ratio) table.columns[kValue].exact = nlohmann::json(history.threshold).dump();
  if (history.left_out > 0) table.columns.front().exact = std::to_string(history.left_out);
  for (std::size_t i = 0; i < behind.size(); ++i) {
    auto& cells = table.rows.emplace_back(data.rows[i].begin(), data.rows[i].end());
    cells[kValue - 1].link = behind[i].link;
    cells[kValue - 1].exact = behind[i].kind;
    cells[kValue].exact = behind[i].value;
    cells[kValue + 1].exact = behind[i].interval;
  }
  return html::figure(drawing::responsive(history), drawing::text_of(history, kColumns), sentence,
                      html::table(std::move(table)));
}

/// Where the points are that were left out: in the table as a file, and in each year's page.
html::Fragment ways_to_the_rest(const drawing::History& history, const http::Days& days,
                                const View& view) {
  if (history.left_out == 0) return {};
  const auto& path = view.request.path;
  const auto name = http::percent_encoded(path.substr(path.rfind('/') + 1));
  auto line = html::text(drawing::left_out_words(history) + " All: ") +
              html::link(name + ".csv" + view.query_with("", ""), "as CSV");
  const bool is_whole = days.from == 0 && days.until == http::Days().until;
  const auto year_of = [](const std::string& time) { return std::atoi(time.c_str()); };
  if (is_whole) {
    for (int year = year_of(history.points.back().time);
         year >= year_of(history.points.front().time); --year) {
      const auto number = std::to_string(year);
      line += html::text(" · ") + html::link(view.with_parameter("from", number + "-01-01") +
                                                 "&to=" + number + "-12-31",
                                             number);
    }
  }
  return html::paragraph(line);
}

/// The comparisons that a history leads to, by their links.
using Comparisons = std::map<std::string, storage::Id>;

/// The samples of the newest comparison of a history.
Result<html::Fragment> samples_section(const drawing::History& history,
                                       const Comparisons& comparisons, const Series& series,
                                       const View& view) {
  if (history.points.empty()) return html::Fragment();
  const auto newest = comparisons.find(history.points.back().link);
  if (newest == comparisons.end()) return html::Fragment();
  TW_TRY(const auto comparison,
         storage::ComparisonStore(view.sources.database).get(newest->second));
  TW_TRY(auto drawn, evidence::strips_of(context_of(view), comparison, series));
  if (drawn.strips.runs.empty()) return html::Fragment();
  drawn.strips.frame.id = "strips";
  html::Fragment command;
  if (view.is_trusted) {
    command = html::paragraph(html::text("Measure it again:")) +
              html::code_block(report::compare_command(
                  drawn.strips.baseline, drawn.strips.candidate, series, std::nullopt));
  }
  return html::section("Samples of the newest comparison",
                       figure_of(drawn.strips,
                                 "Every sample, in the order in which it was "
                                 "taken; less is better") +
                           command,
                       "samples");
}

/// Links to the newest part of the past; the script zooms with the same parameters.
html::Fragment ranges(const View& view) {
  constexpr storage::WallMillis kDay = 24LL * 3600 * 1000;
  auto line = html::text("since: ") + html::link(view.with_parameter("from", ""), "ever");
  for (const int days : {365, 90, 30}) {
    const auto from = view.sources.clock.wall_now() - days * kDay;
    const auto date = platform::date_and_minute(from).substr(0, 10);
    line += html::text(" · ") + html::link(view.with_parameter("from", date),
                                           figures::count(static_cast<std::size_t>(days), "day"));
  }
  return html::paragraph(line, "choice");
}

/// The series that have values and are what the filters name.
Result<Page> list_of_series(const http::Page& page, const View& view) {
  TW_TRY(const auto all, storage::RunStore(view.sources.database).all_series());
  html::Rows rows;
  for (const auto& series : all) {
    const auto& [workload, configuration, variant] = series.benchmark;
    const bool is_asked = page.admits("configuration", to_string(configuration)) &&
                          page.admits("variant", to_string(variant)) &&
                          page.admits("metric", to_string(series.metric));
    if (!is_asked) continue;
    rows.push_back({{workload, view.to_series(series)},
                    report::configuration_text(series.benchmark),
                    to_string(series.metric),
                    unit_of(series.metric)});
  }
  using html::Cells;
  const auto table = html::table({.columns = {{"workload", Cells::words},
                                              {"configuration", Cells::words},
                                              {"metric", Cells::words},
                                              {"unit", Cells::words}},
                                  .rows = std::move(rows)});
  return Page{.title = "Series",
              .content = html::title("Series") + table,
              .section = "Models",
              .way = {{view.root + "models", "Models"}}};
}

std::string sentence_on(const drawing::History& history) {
  return std::string(figures::name_of(history.metric)) + " in " +
         std::string(unit_of(history.metric)) + " of " +
         figures::count(history.points.size() + history.left_out, "comparison") +
         "; less is better";
}

}  // namespace

Result<Page> make_series(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"workload", "configuration", "variant",
                                                     "metric", "from", "to", "show"}));
  const http::Page page{.filters = parameters};
  const auto shown = value_or(parameters, "show", "values");
  TW_TRY_VOID(check_choice("show", shown, kShown));
  TW_TRY(const auto days, http::days_of(page));
  TW_TRY(const auto series, series_of(parameters, view));
  if (series.benchmark.workload.empty()) return list_of_series(page, view);
  TW_TRY(const auto values, storage::RunStore(view.sources.database).history(series, kValuesRead));
  if (values.empty()) return page_without_values(series, view);
  const auto name = to_string(series);
  Comparisons comparisons;
  auto context = context_of(view);
  context.links.comparison = [&](storage::Id id) {
    const auto link = view.to_comparison(id);
    comparisons[link] = id;
    return link;
  };
  TW_TRY(auto history,
         evidence::history_of(context, {.series = series,
                                        .from = days.from,
                                        .until = days.until,
                                        .most = view.is_for_csv ? SIZE_MAX : kPointsShown,
                                        .is_ratio = shown == "changes",
                                        .is_logarithmic = shown == "logarithmic"}));
  history.frame.id = "history";
  TW_TRY(const auto samples, samples_section(history, comparisons, series, view));
  TW_TRY(const auto stated, beside_of(series, values, view));
  TW_TRY(const auto runs, runs_section(series, values, stated, view));
  TW_TRY(const auto others, neighbours(series, view));
  TW_TRY(const auto noise, noise_facts(series, view));
  TW_TRY(const auto mutes, heard::mutes_of(view.sources.database, std::vector{series},
                                           view.sources.clock.wall_now()));
  auto content = html::title(name) + html::paragraph(html::text(newest_text(history)), "summary") +
                 noise + beside_facts(stated) + reading_link(view) + mutes_section(mutes, view) +
                 choice(view, "show", shown, "values", kShown) + ranges(view);
  if (!history.points.empty()) {
    content += html::section(
        "Nightly by nightly",
        past_figure(history, sentence_on(history)) + ways_to_the_rest(history, days, view), "past");
  }
  TW_TRY(const auto traces, traces_section(series.benchmark, {}, view));
  content += samples + traces + runs + others;
  return Page{.title = name,
              .content = content,
              .section = "Models",
              .way = {{view.root + "models", "Models"},
                      {view.to_model(series.benchmark.workload), series.benchmark.workload}}};
}

}  // namespace torchwatch::pages
