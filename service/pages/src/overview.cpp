#include "overview.hpp"

#include "html.hpp"
#include "torchwatch/http/paging.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::pages {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr int kComparisonsShown = 30;
constexpr int kIncidentsShown = 50;

/// Shows how often the service is wrong: the tally of builds compared with themselves.
Result<std::string> self_tests(storage::ComparisonStore& comparisons) {
  TW_TRY(const auto tallies, comparisons.self_tests());
  const auto all = storage::sum_of(tallies);
  if (all.series == 0) return "<p>No build has been compared with itself yet.</p>\n";
  const std::string sentence = "<p>" + std::to_string(all.series) +
                               " series of builds compared with themselves, " +
                               std::to_string(all.regressed + all.improved) +
                               " called changed: the false-alarm rate is at most " +
                               report::false_alarms_bound_text(all) + " (95 % upper bound).</p>\n";
  Rows rows;
  for (const auto& tally : tallies) {
    rows.push_back({std::string(to_string(tally.metric)), std::to_string(tally.series),
                    std::to_string(tally.regressed), std::to_string(tally.improved),
                    std::to_string(tally.inconclusive), report::false_alarms_bound_text(tally)});
  }
  return sentence + "<details>\n<summary>By metric</summary>\n" +
         html_table({{"metric", Cells::words},
                     {"series", Cells::numbers},
                     {"called slower", Cells::numbers},
                     {"called faster", Cells::numbers},
                     {"inconclusive", Cells::numbers},
                     {"false-alarm rate, 95 % upper bound", Cells::numbers}},
                    rows) +
         "</details>\n";
}

Result<std::string> incidents(storage::IncidentStore& store) {
  TW_TRY(const auto listed, store.list(kIncidentsShown));
  Rows rows;
  for (const auto& incident : listed) {
    rows.push_back({std::to_string(incident.id), platform::date_and_minute(incident.opened_at),
                    std::string(to_string(incident.kind)),
                    std::string(report::state_word(incident)),
                    incident.issue_number ? "#" + std::to_string(*incident.issue_number) : "",
                    incident.title});
  }
  if (rows.empty()) return "<p>None.</p>\n";
  return html_table({{"id", Cells::numbers},
                     {"opened, UTC", Cells::words},
                     {"kind", Cells::words},
                     {"state", Cells::states},
                     {"issue", Cells::words},
                     {"title"}},
                    rows);
}

Result<std::string> name_of_build(storage::BuildStore& builds, storage::Id id, bool is_trusted) {
  TW_TRY(const auto build, builds.get(id));
  const bool is_private = build.origin == storage::BuildOrigin::folder && !is_trusted;
  return is_private ? "a folder" : build.name;
}

Result<std::string> comparisons(storage::ComparisonStore& store, storage::BuildStore& builds,
                                bool is_trusted) {
  TW_TRY(const auto listed, store.list(kComparisonsShown));
  Rows rows;
  for (const auto& comparison : listed) {
    TW_TRY(const auto candidate, name_of_build(builds, comparison.candidate, is_trusted));
    std::string baseline;
    if (comparison.baseline) {
      TW_TRY(baseline, name_of_build(builds, *comparison.baseline, is_trusted));
    }
    rows.push_back({platform::date_and_minute(comparison.created_at),
                    std::string(to_string(comparison.purpose)), candidate, baseline,
                    std::string(to_string(comparison.state)),
                    is_trusted ? report::remark_on(comparison) : ""});
  }
  if (rows.empty()) return "<p>None yet.</p>\n";
  return html_table({{"started, UTC", Cells::words},
                     {"purpose", Cells::words},
                     {"candidate"},
                     {"baseline"},
                     {"state", Cells::states},
                     {"remark"}},
                    rows);
}

std::string section(const std::string& heading, const std::string& content) {
  return "<section>\n<h2>" + heading + "</h2>\n" + content + "</section>\n";
}

constexpr const char* kHeader =
    "<header>\n<h1>torchwatch</h1>\n"
    "<p>Each new build of PyTorch, compared with the one before.</p>\n</header>\n";

constexpr const char* kFooter =
    "<footer>\n<p>For programs: <a href=\"api/v1/comparisons\">comparisons</a>, "
    "<a href=\"api/v1/incidents\">incidents</a>, <a href=\"api/v1/bisections\">bisections</a>, "
    "<a href=\"api/v1/builds\">builds</a>, <a href=\"api/v1/self-tests\">self-tests</a>, "
    "<a href=\"healthz\">health</a></p>\n</footer>\n";

}  // namespace

Result<http::Reply> get_overview(const http::Request& request, storage::Database& database) {
  TW_TRY_VOID(http::refuse_parameters(request));
  storage::ComparisonStore comparison_store(database);
  storage::IncidentStore incident_store(database);
  storage::BuildStore build_store(database);
  TW_TRY(const auto accuracy, self_tests(comparison_store));
  TW_TRY(const auto found, incidents(incident_store));
  TW_TRY(const auto measured, comparisons(comparison_store, build_store, request.is_trusted));
  const std::string body = kHeader +
                           ("<main>\n" + section("How often the service is wrong", accuracy) +
                            section("Incidents", found) + section("Comparisons", measured)) +
                           "</main>\n" + kFooter;
  return http::Reply{200, "text/html; charset=utf-8", html_page("torchwatch", body), {}};
}

}  // namespace torchwatch::pages
