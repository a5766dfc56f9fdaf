#include "items.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::pages {
namespace {

using storage::VerdictRow;

std::string verdict_table(const std::vector<VerdictRow>& rows, const View& view) {
  std::vector<report::EffectFacts> effects;
  for (const auto& row : rows) effects.push_back(report::effect_of(row));
  return effect_table(effects, view.confidence);
}

std::string heading(std::string_view word, const std::vector<VerdictRow>& rows) {
  return std::string(word) + " (" + std::to_string(rows.size()) + ")";
}

std::string verdict_sections(const report::SortedVerdicts& sorted, const View& view) {
  std::string text;
  const auto add = [&](std::string_view word, const std::vector<VerdictRow>& rows, auto* table) {
    if (!rows.empty()) text += html_section(heading(word, rows), table(rows, view));
  };
  add("Regressed", sorted.regressed, verdict_table);
  add("Lost", sorted.lost, reason_table);
  add("Improved", sorted.improved, verdict_table);
  add("Could not be decided", sorted.undecided, reason_table);
  if (sorted.unchanged.empty()) return text;
  return text + "<details>\n<summary>" + heading("Unchanged", sorted.unchanged) + "</summary>\n" +
         verdict_table(sorted.unchanged, view) + "<p>" +
         html_text(report::unchanged_text(view.confidence)) + "</p>\n</details>\n";
}

/// What is to be said of the comparison as a whole: a changed machine, runs without a sandbox.
std::string summary_text(const storage::ComparisonRow& row) {
  const auto summary = report::embedded(row.summary_json);
  std::string text;
  if (!summary.is_object()) return text;
  for (const auto& sentence : summary.value("sentences", std::vector<std::string>{})) {
    text += "<p>" + html_prose(sentence) + "</p>\n";
  }
  return text;
}

Cell commit_cell(const std::string& sha, const View& view) {
  return {short_sha(sha), view.to_commit(sha)};
}

Result<std::string> builds_table(const storage::ComparisonRow& row, const View& view) {
  Rows cells;
  storage::BuildStore builds(view.sources.database);
  const auto add = [&](const char* role, storage::Id id) -> Status {
    TW_TRY(const auto build, builds.get(id));
    cells.push_back({role,
                     {name_of(build, view), view.to_build(id)},
                     build.version,
                     commit_cell(build.trunk_commit, view)});
    return {};
  };
  if (row.baseline) TW_TRY_VOID(add("baseline", *row.baseline));
  TW_TRY_VOID(add("candidate", row.candidate));
  return html_table({{"build", Cells::words}, {"name"}, {"version"}, {"commit", Cells::words}},
                    cells);
}

using Fact = std::pair<std::string_view, Cell>;

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

}  // namespace

Result<http::Reply> get_comparison(const http::Request& request, const Sources& sources) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  auto view = view_of(request, sources, "../");
  storage::ComparisonStore store(sources.database);
  TW_TRY(const auto row, store.get(id));
  view.confidence = row.confidence.value_or(sources.confidence);
  TW_TRY(const auto name, name_of_comparison(row, view));
  TW_TRY(const auto state,
         report::result_word(view.sources.database, row, view.service_now.doing.comparison));
  TW_TRY(const auto verdicts, store.verdicts_of(id));
  TW_TRY(const auto incidents, storage::IncidentStore(sources.database).of_comparison(id));
  TW_TRY(const auto found, incident_table(incidents, view));
  TW_TRY(const auto builds, builds_table(row, view));
  TW_TRY(const auto remark, remark_on(row, view));
  const auto sorted = report::sorted(verdicts, incidents);
  const bool is_bad = !sorted.regressed.empty() || !sorted.lost.empty();
  std::string content = "<h1>" + html_prose(name) + "</h1>\n";
  if (!verdicts.empty()) {
    content += "<p class=\"summary " + std::string(is_bad ? "bad" : "good") + "\">" +
               html_prose("Of " + report::series_text(verdicts.size()) + ": " +
                          report::outcome_text(sorted)) +
               ".</p>\n";
  }
  std::vector<Fact> facts{
      {"comparison", std::to_string(id) + ", " + std::string(to_string(row.purpose))},
      {"state", state},
      {"remark", remark}};
  TW_TRY_VOID(add_times(row, view, facts));
  content += html_facts(facts) + summary_text(row);
  if (!incidents.empty()) content += html_section("Incidents", found);
  content += verdict_sections(sorted, view) + html_section("Builds", builds);
  return reply_with(view, name + " - torchwatch", content);
}

Result<http::Reply> get_build(const http::Request& request, const Sources& sources) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  const auto view = view_of(request, sources, "../");
  TW_TRY(const auto build, storage::BuildStore(sources.database).get(id));
  const auto name = name_of(build, view);
  const auto for_trusted = [&](const std::string& text) { return view.is_trusted ? text : ""; };
  TW_TRY(const auto waits, waits_for(storage::ItemKind::build, build.name, view));
  auto content = "<h1>Build " + html_prose(name) + "</h1>\n" +
                 html_facts({{"origin", to_string(build.origin)},
                             {"state", to_string(build.state)},
                             {"version", build.version},
                             {"commit", commit_cell(build.trunk_commit, view)},
                             {"reason", for_trusted(build.reason)},
                             {"waiting", waits},
                             {"not measured", for_trusted(build.unusable)},
                             {"folder", for_trusted(build.folder)}});
  TW_TRY(const auto comparison, storage::ComparisonStore(sources.database).nightly_of(id));
  if (comparison) {
    TW_TRY(const auto table, comparison_table({*comparison}, view));
    content += html_section("Compared with the nightly before", table);
  }
  return reply_with(view, name + " - torchwatch", content);
}

}  // namespace torchwatch::pages
