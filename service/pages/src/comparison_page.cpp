#include <algorithm>

#include "items.hpp"
#include "map_section.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/forms/actions.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/printed_output.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/study_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pages {
namespace {

using storage::VerdictRow;

html::Fragment verdict_table(const std::vector<VerdictRow>& rows, const View& view) {
  std::vector<report::EffectFacts> effects;
  for (const auto& row : rows) effects.push_back(report::effect_of(row));
  return effect_table(effects, view, view.confidence);
}

std::string heading(std::string_view word, const std::vector<VerdictRow>& rows) {
  return std::string(word) + " (" + std::to_string(rows.size()) + ")";
}

/// More unchanged series than these would be most of the page of their comparison.
constexpr std::size_t kUnchangedShown = 200;

html::Fragment unchanged_section(const std::vector<VerdictRow>& rows, const Shown& shown,
                                 const View& view) {
  const bool is_asked = shown.only == "unchanged";
  if (rows.empty() || (!is_asked && shown.only != "all")) return {};
  const auto meaning = html::paragraph(html::text(report::unchanged_text(view.confidence)));
  const auto title = heading("Unchanged", rows);
  if (is_asked) return html::section(title, verdict_table(rows, view) + meaning);
  if (rows.size() > kUnchangedShown) {
    return html::section(
        title,
        meaning +
            html::paragraph(
                html::link(view.with_parameter("only", "unchanged"),
                           "List all " + figures::grouped(static_cast<std::int64_t>(rows.size()))),
                "more"));
  }
  return html::details(title, verdict_table(rows, view) + meaning);
}

html::Fragment verdict_sections(const report::SortedVerdicts& sorted, const Shown& shown,
                                const View& view) {
  html::Fragment text;
  const auto add = [&](std::string_view only, std::string_view word,
                       const std::vector<VerdictRow>& rows, auto* table) {
    const bool is_shown = shown.only == "all" || shown.only == only;
    if (is_shown && !rows.empty()) text += html::section(heading(word, rows), table(rows, view));
  };
  add("regressed", "Regressed", sorted.regressed, verdict_table);
  add("failed", "Lost", sorted.lost, reason_table);
  add("failed", "Failed", sorted.failed, reason_table);
  add("improved", "Improved", sorted.improved, verdict_table);
  if (shown.only == "all" && !sorted.moved_exactly.empty()) {
    text += html::section(heading("Moved exactly, below the threshold", sorted.moved_exactly),
                          verdict_table(sorted.moved_exactly, view) +
                              html::paragraph(html::text(report::moved_exactly_text())));
  }
  add("unsure", "Could not be decided", sorted.undecided, reason_table);
  // What a workload's original refuses is known, and in each comparison the same.
  const bool is_asked = shown.only == "failed";
  if (is_asked) add("failed", "Not supported", sorted.unsupported, reason_table);
  if (shown.only == "all" && !sorted.unsupported.empty()) {
    text += html::details(heading("Not supported", sorted.unsupported),
                          reason_table(sorted.unsupported, view));
  }
  return text + unchanged_section(sorted.unchanged, shown, view);
}

/// What is to be said of the comparison as a whole: a changed machine, runs without a sandbox.
html::Fragment summary_text(const storage::ComparisonRow& row) {
  const auto summary = report::embedded(row.summary_json);
  html::Fragment text;
  if (!summary.is_object()) return text;
  for (const auto& sentence : summary.value("sentences", std::vector<std::string>{})) {
    text += html::paragraph(html::text(sentence));
  }
  return text;
}

html::Cell commit_cell(const std::string& sha, const View& view) {
  return {short_sha(sha), view.to_commit(sha)};
}

/// The traces of both builds.
Result<html::Fragment> traces_of(const storage::ComparisonRow& row, const View& view) {
  storage::EvidenceReader reader(view.sources.database);
  TW_TRY(auto runs, reader.profile_runs_of(row.candidate));
  if (row.baseline && *row.baseline != row.candidate) {
    TW_TRY(const auto before, reader.profile_runs_of(*row.baseline));
    runs.insert(runs.end(), before.begin(), before.end());
  }
  TW_TRY(const auto table, trace_table(runs, view));
  return table.empty() ? table : html::details("Traces of both builds", table);
}

/// The builds, and the command that compares them on what changed most.
Result<html::Fragment> builds_section(const storage::ComparisonRow& row,
                                      const std::vector<VerdictRow>& verdicts, const View& view) {
  html::Rows cells;
  std::vector<std::string> names;
  std::vector<std::string> shown;  // as the page of the two knows them
  bool have_addresses = true;      // a path cannot have the slashes of folders and pull requests
  storage::BuildStore builds(view.sources.database);
  const auto add = [&](const char* role, storage::Id id) -> Status {
    TW_TRY(const auto build, builds.get(id));
    names.push_back(build.name);
    shown.push_back(name_of(build, view));
    have_addresses = have_addresses && build.name.find('/') == std::string::npos;
    cells.push_back({role,
                     {shown.back(), view.to_build(id)},
                     build.version,
                     commit_cell(build.trunk_commit, view)});
    return {};
  };
  if (row.baseline) TW_TRY_VOID(add("baseline", *row.baseline));
  TW_TRY_VOID(add("candidate", row.candidate));
  using html::Cells;
  auto content = html::table(
      {.columns = {{"build", Cells::words}, {"name"}, {"version"}, {"commit", Cells::words}},
       .rows = std::move(cells)});
  const auto runs = "api/v1/comparisons/" + std::to_string(row.id) + "/runs";
  content += html::paragraph(html::link(view.root + runs, "Every run with its samples"));
  if (row.baseline && have_addresses) {
    const auto pair =
        http::percent_encoded(shown.front()) + "..." + http::percent_encoded(shown.back());
    content += html::paragraph(
        html::link(view.root + "compare/" + pair, "Every comparison of these two builds"));
  }
  if (row.baseline && view.is_trusted && !verdicts.empty()) {
    const auto& series = verdicts.front().series;
    TW_TRY(const auto study, storage::StudyStore(view.sources.database).find(row.id));
    const auto command =
        study ? report::study_command(names.front(), *study, series.benchmark)
              : report::compare_command(names.front(), names.back(), series, std::nullopt);
    content +=
        html::paragraph(html::text("Measure one of these again:")) + html::code_block(command);
  }
  return html::section("Builds, and how to repeat it", content, "repeat");
}

using Fact = std::pair<std::string_view, html::Cell>;

/// When the first run began, and how long it was until the end.
Status add_times(const storage::ComparisonRow& row, const View& view, std::vector<Fact>& facts) {
  storage::RunStore runs(view.sources.database);
  TW_TRY(const auto began_at, runs.began_at({storage::OwnerKind::comparison, row.id}));
  facts.push_back({"asked for", platform::date_and_minute(row.created_at) + " UTC"});
  if (!began_at) return {};
  facts.push_back({"measured from", platform::date_and_minute(*began_at) + " UTC"});
  facts.push_back({"took", row.ended_at == 0
                               ? std::string("not ended")
                               : figures::duration(seconds_between(*began_at, row.ended_at))});
  return {};
}

/// What was found is good news, what was missed is bad; all else is neither.
html::Fragment sentence_on_drill(storage::ComparisonRow drill, const std::string& word,
                                 const View& view) {
  const auto colour = word == "found" ? " good" : word == "missed" ? " bad" : "";
  if (!view.is_trusted) drill.reason.clear();  // it may name paths
  return html::paragraph(html::text("A drill, " + word + ": the build is compared with itself; " +
                                    report::remark_on(drill) + "."),
                         std::string("summary") + colour);
}

html::Fragment sentence_on(const report::SortedVerdicts& sorted, std::size_t verdicts) {
  if (verdicts == 0) return {};
  const bool is_bad = !sorted.regressed.empty() || !sorted.lost.empty();
  return html::paragraph(
      html::text("Of " + report::series_text(verdicts) + ": " + report::outcome_text(sorted) + "."),
      is_bad ? "summary bad" : "summary good");
}

/// Links to the nightlies before and after one.
Result<html::Fragment> neighbours_of(const storage::ComparisonRow& row, const View& view) {
  if (row.purpose != storage::Purpose::nightly) return html::Fragment();
  storage::ComparisonStore store(view.sources.database);
  TW_TRY(const auto before, store.nightlies_before(row.id, 1));
  TW_TRY(const auto after, store.nightly_after(row.id));
  auto line = html::link(before.empty() ? "" : view.to_comparison(before.front().id),
                         before.empty() ? "" : "The nightly before", "prev");
  if (after) {
    line += html::text(before.empty() ? "" : " · ") +
            html::link(view.to_comparison(*after), "The nightly after", "next");
  }
  return line.empty() ? line : html::paragraph(line, "choice");
}

/// Every verdict, for programs that read tables.
html::Table verdicts_as_table(const std::vector<VerdictRow>& verdicts, const View& view) {
  using html::Cells;
  html::Table table{.columns = {{"workload"},
                                {"configuration"},
                                {"variant"},
                                {"metric"},
                                {"unit"},
                                {"verdict"},
                                {"ratio"},
                                {"interval_low"},
                                {"interval_high"},
                                {"baseline_value"},
                                {"candidate_value"},
                                {"runs"},
                                {"reason"}}};
  const auto number = [](double of) { return of == 0 ? std::string() : nlohmann::json(of).dump(); };
  for (const auto& row : verdicts) {
    const auto& benchmark = row.series.benchmark;
    const bool is_known = figures::is_known(row.interval_low, row.interval_high);
    table.rows.push_back(
        {benchmark.workload, to_string(benchmark.configuration), to_string(benchmark.variant),
         to_string(row.series.metric), unit_of(row.series.metric), to_string(row.verdict),
         number(row.ratio), is_known ? number(row.interval_low) : "",
         is_known ? number(row.interval_high) : "", number(row.baseline_value),
         number(row.candidate_value), std::to_string(row.runs), view.is_trusted ? row.reason : ""});
  }
  return table;
}

Result<Page> page_of(const storage::ComparisonRow& row, const Shown& shown, View view) {
  auto& database = view.sources.database;
  view.confidence = row.confidence.value_or(view.sources.confidence);
  TW_TRY(const auto name, name_of_comparison(row, view));
  TW_TRY(const auto state, report::result_word(database, row, view.service_now.doing.comparison));
  TW_TRY(auto verdicts, storage::verdicts_of(database, row.id));
  if (view.is_trusted) {
    TW_TRY(verdicts, report::with_printed_output(database, row, std::move(verdicts)));
  }
  if (view.is_for_csv)
    return Page{.title = name, .content = {}, .csv = verdicts_as_table(verdicts, view)};
  TW_TRY(const auto incidents, storage::IncidentStore(database).of_comparison(row.id));
  TW_TRY(const auto found, incident_table(incidents, view));
  const auto sorted = report::sorted(verdicts, incidents);
  TW_TRY(const auto map, heat_map_section(row, shown, verdicts, sorted, view));
  TW_TRY(const auto builds, builds_section(row, verdicts, view));
  TW_TRY(const auto remark, remark_on(row, view));
  TW_TRY(const auto traces, traces_of(row, view));
  TW_TRY(const auto range, range_cell(row, view));
  std::vector<Fact> facts{
      {"comparison", std::to_string(row.id) + ", " + std::string(to_string(row.purpose))},
      {"state", state},
      {"trunk commits", range},
      {"remark", remark}};
  TW_TRY_VOID(add_times(row, view, facts));
  TW_TRY(const auto neighbours, neighbours_of(row, view));
  const auto sentence = row.purpose == storage::Purpose::drill
                            ? sentence_on_drill(row, state, view)
                            : sentence_on(sorted, verdicts.size());
  auto content = html::title(name) + neighbours + sentence + html::facts(facts) +
                 summary_text(row) + forms::for_comparison(row, view);
  if (!incidents.empty()) content += html::section("Incidents", found);
  if (!verdicts.empty()) content += choice(view, "only", shown.only, "all", kOnly);
  content += verdict_sections(sorted, shown, view);
  if (!verdicts.empty()) content += reading_link(view);
  content += map + traces + builds;
  return Page{.title = name,
              .content = content,
              .section = "Comparisons",
              .way = {{view.root + "comparisons", "Comparisons"}}};
}

}  // namespace

Result<Page> make_comparison(const View& view) {
  TW_TRY(const auto shown, shown_of(view));
  TW_TRY(const auto id, http::id_of(view.request));
  TW_TRY(const auto row, storage::ComparisonStore(view.sources.database).get(id));
  return page_of(row, shown, view);
}

Result<Page> make_nightly(const View& view) {
  TW_TRY(const auto shown, shown_of(view));
  const auto& name = view.request.path_parameters.at("name");
  TW_TRY(const auto builds, storage::BuildStore(view.sources.database).list());
  storage::ComparisonStore comparisons(view.sources.database);
  // The newest counts of a nightly that was published again.
  for (auto build = builds.rbegin(); build != builds.rend(); ++build) {
    if (build->origin != storage::BuildOrigin::nightly || build->name != name) continue;
    TW_TRY(const auto row, comparisons.nightly_of(build->id));
    if (row) return page_of(*row, shown, view);
  }
  return fail(ErrorCode::not_found, "no nightly \"" + name.substr(0, 100) + "\" that was compared");
}

}  // namespace torchwatch::pages
