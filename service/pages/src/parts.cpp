#include "parts.hpp"

#include <algorithm>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/markdown.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::pages {
namespace {

/// "99.7 % sure, +14.9 % [+13.5, +16.3] %".
std::string evidence_of(const report::CulpritFacts& cause) {
  std::string text;
  if (cause.confidence > 0) text = figures::confidence(cause.confidence) + " sure";
  if (cause.effects.empty()) return text;
  const auto& largest = *std::ranges::min_element(cause.effects, report::is_larger);
  const auto change = report::change_text(largest);
  if (change.empty()) return text;
  const auto interval = report::interval_text(largest);
  text += (text.empty() ? "" : ", ") + change;
  return interval.empty() ? text : text + " " + interval;
}

constexpr const char* kFooter =
    "<footer>\n<p>For programs: <a href=\"{}api/v1/comparisons\">comparisons</a>, "
    "<a href=\"{}api/v1/incidents\">incidents</a>, <a href=\"{}api/v1/bisections\">bisections</a>, "
    "<a href=\"{}api/v1/builds\">builds</a>, <a href=\"{}api/v1/self-tests\">self-tests</a>, "
    "<a href=\"{}api/v1/openapi.json\">their description</a>, "
    "<a href=\"{}healthz\">health</a></p>\n<p>torchwatch ";

std::string with_root(std::string text, const std::string& root) {
  for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}", at)) {
    text.replace(at, 2, root);
  }
  return text;
}

std::string header(const View& view) {
  return with_root(
      "<header>\n<p class=\"name\"><a href=\"{}./\">torchwatch</a></p>\n"
      "<nav><a href=\"{}incidents\">incidents</a> <a href=\"{}comparisons\">comparisons</a></nav>\n"
      "</header>\n",
      view.root);
}

}  // namespace

std::string View::to_incident(storage::Id id) const {
  return root + "incidents/" + std::to_string(id);
}

std::string View::to_comparison(storage::Id id) const {
  return root + "comparisons/" + std::to_string(id);
}

std::string View::to_build(storage::Id id) const {
  return root + "builds/" + std::to_string(id);
}

std::string View::to_commit(const std::string& sha) const {
  return report::commit_address(sources.commits_address, sha);
}

std::string View::to_issue(std::int64_t number) const {
  return sources.issues_address.empty()
             ? ""
             : sources.issues_address + "/issues/" + std::to_string(number);
}

View view_of(const http::Request& request, const Sources& sources, std::string root) {
  return {.sources = sources,
          .is_trusted = request.is_trusted,
          .root = std::move(root),
          .service_now = sources.service_now ? sources.service_now() : health::Report{},
          .confidence = sources.confidence};
}

http::Reply reply_with(const View& view, std::string_view title, const std::string& content,
                       int status) {
  const auto body = header(view) + "<main>\n" + content + "</main>\n" +
                    with_root(kFooter, view.root) + std::string(report::program_version()) +
                    "</p>\n</footer>\n";
  return http::Reply{status, "text/html; charset=utf-8", html_page(title, body, view.root), {}};
}

std::string name_of(const storage::BuildRow& build, const View& view) {
  const bool is_private = build.origin == storage::BuildOrigin::folder && !view.is_trusted;
  if (is_private) return "a folder";
  return build.origin == storage::BuildOrigin::commit ? short_sha(build.name) : build.name;
}

Result<std::string> name_of_build(storage::Id id, const View& view) {
  TW_TRY(const auto build, storage::BuildStore(view.sources.database).get(id));
  return name_of(build, view);
}

Result<std::string> name_of_comparison(const storage::ComparisonRow& row, const View& view) {
  TW_TRY(const auto candidate, name_of_build(row.candidate, view));
  if (!row.baseline) return candidate;
  TW_TRY(const auto baseline, name_of_build(*row.baseline, view));
  return candidate + " against " + baseline;
}

Result<Search> search_of(const storage::IncidentRow& incident, const View& view) {
  if (!incident.bisection) return Search{};
  TW_TRY(const auto row, storage::BisectionStore(view.sources.database).get(*incident.bisection));
  Search search{.state = row.state, .causes = report::causes_of(row)};
  if (!view.sources.subject_of) return search;
  for (auto& cause : search.causes) {
    for (auto& commit : cause.commits) commit.subject = view.sources.subject_of(commit.sha);
  }
  return search;
}

Result<std::string> waits_for(storage::ItemKind kind, const std::string& item, const View& view) {
  TW_TRY(const auto setback, storage::SetbackStore(view.sources.database).find({kind, item}));
  if (!setback) return std::string();
  if (view.is_trusted) return report::waiting_text(*setback);
  return "waits since " + platform::date_and_minute(setback->since) + " UTC";
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kCharacters = 160;
  if (characters_of(text) <= kCharacters) return text;
  std::size_t end = kCharacters;
  while (end > 0 && continues_character(text[end])) --end;
  return text.substr(0, end) + "…";
}

std::string reason_table(const std::vector<storage::VerdictRow>& rows, const View& view) {
  Rows cells;
  for (const auto& row : rows) {
    cells.push_back({row.series.benchmark.workload,
                     report::configuration_text(row.series.benchmark), to_string(row.series.metric),
                     view.is_trusted ? row.reason : ""});
  }
  return html_table({{"workload", Cells::words},
                     {"configuration", Cells::words},
                     {"metric", Cells::words},
                     {"reason"}},
                    cells);
}

Cell cause_cell(const std::vector<report::CulpritFacts>& causes, const View& view) {
  const auto* cause = bisection::leading(causes);
  if (cause == nullptr) return "";
  const auto evidence = evidence_of(*cause);
  const auto behind = evidence.empty() ? "" : "(" + evidence + ")";
  if (cause->commits.size() != 1) {
    return {"one of " + figures::count(cause->commits.size(), "commit"), "", behind};
  }
  const auto& commit = cause->commits.front();
  const auto subject = commit.subject.empty() ? "" : commit.subject + " ";
  return {short_sha(commit.sha), view.to_commit(commit.sha), subject + behind};
}

Result<std::string> incident_table(const std::vector<storage::IncidentRow>& incidents,
                                   const View& view) {
  Rows rows;
  for (const auto& incident : incidents) {
    TW_TRY(const auto search, search_of(incident, view));
    const auto& number = incident.issue_number;
    rows.push_back(
        {{std::to_string(incident.id), view.to_incident(incident.id)},
         {incident.title, view.to_incident(incident.id)},
         cause_cell(search.causes, view),
         report::state_word(incident),
         {number ? "#" + std::to_string(*number) : "", number ? view.to_issue(*number) : ""},
         platform::date_and_minute(incident.opened_at)});
  }
  if (rows.empty()) return "<p>None.</p>\n";
  return html_table({{"id", Cells::numbers},
                     {"what"},
                     {"culprit"},
                     {"state", Cells::states},
                     {"issue", Cells::words},
                     {"opened, UTC", Cells::words}},
                    rows);
}

Result<std::string> remark_on(const storage::ComparisonRow& row, const View& view) {
  if (is_end(row.state)) return view.is_trusted ? report::remark_on(row) : std::string();
  TW_TRY(auto waits, waits_for(storage::ItemKind::comparison, std::to_string(row.id), view));
  return waits.empty() && view.is_trusted ? report::remark_on(row) : waits;
}

Result<std::string> comparison_table(const std::vector<storage::ComparisonRow>& comparisons,
                                     const View& view) {
  Rows rows;
  for (const auto& row : comparisons) {
    TW_TRY(const auto name, name_of_comparison(row, view));
    TW_TRY(const auto result,
           report::result_word(view.sources.database, row, view.service_now.doing.comparison));
    TW_TRY(const auto remark, remark_on(row, view));
    rows.push_back({{std::to_string(row.id), view.to_comparison(row.id)},
                    {name, view.to_comparison(row.id)},
                    to_string(row.purpose),
                    result,
                    platform::date_and_minute(row.created_at),
                    shortened(remark)});
  }
  if (rows.empty()) return "<p>None yet.</p>\n";
  return html_table({{"id", Cells::numbers},
                     {"builds"},
                     {"purpose", Cells::words},
                     {"result", Cells::states},
                     {"started, UTC", Cells::words},
                     {"remark"}},
                    rows);
}

std::string effect_table(const std::vector<report::EffectFacts>& effects, double confidence) {
  const auto heading = report::interval_heading(confidence);
  Rows rows;
  for (const auto& effect : effects) {
    const auto& [benchmark, metric] = effect.series;
    const bool has_values = effect.baseline_value != 0 || effect.candidate_value != 0;
    const auto value = [&](double of) { return has_values ? figures::value(metric, of) : ""; };
    rows.push_back({benchmark.workload, report::configuration_text(benchmark), to_string(metric),
                    report::change_text(effect), report::interval_text(effect),
                    value(effect.baseline_value), value(effect.candidate_value),
                    effect.runs > 0 ? std::to_string(effect.runs) : ""});
  }
  return html_table({{"workload", Cells::words},
                     {"configuration", Cells::words},
                     {"metric", Cells::words},
                     {"change", Cells::numbers},
                     {heading, Cells::numbers},
                     {"baseline", Cells::numbers},
                     {"candidate", Cells::numbers},
                     {"runs", Cells::numbers}},
                    rows);
}

double seconds_between(storage::WallMillis from, storage::WallMillis to) {
  constexpr double kSecond = 1000;
  return static_cast<double>(to - from) / kSecond;
}

std::string age_text(storage::WallMillis at, const View& view) {
  return figures::age(seconds_between(at, view.sources.clock.wall_now()));
}

}  // namespace torchwatch::pages
