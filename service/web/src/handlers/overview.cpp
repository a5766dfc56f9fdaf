#include "../html.hpp"
#include "../paging.hpp"
#include "handlers.hpp"
#include "torchwatch/doors/clock.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::web::handlers {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr int kNightsShown = 30;
constexpr int kIncidentsShown = 50;

/// What builds compared with themselves say of the service itself.
Result<std::string> self_tests(storage::NightStore& nights) {
  TW_TRY(const auto tallies, nights.self_tests());
  const auto all = storage::sum_of(tallies);
  if (all.series == 0) return "<p>No build has been compared with itself yet.</p>\n";
  const std::string sentence = "<p>" + std::to_string(all.series) +
                               " series of builds compared with themselves, " +
                               std::to_string(all.regressed + all.improved) +
                               " called changed: the rate of false alarms lies below " +
                               report::false_alarms_bound_text(all) + " (95 %).</p>\n";
  Rows rows;
  for (const auto& tally : tallies) {
    rows.push_back({std::string(to_string(tally.metric)), std::to_string(tally.series),
                    std::to_string(tally.regressed), std::to_string(tally.improved),
                    std::to_string(tally.inconclusive), report::false_alarms_bound_text(tally)});
  }
  return sentence + "<details>\n<summary>Metric by metric</summary>\n" +
         html_table({{"metric", Cells::words},
                     {"series", Cells::numbers},
                     {"called slower", Cells::numbers},
                     {"called faster", Cells::numbers},
                     {"inconclusive", Cells::numbers},
                     {"false alarms below (95 %)", Cells::numbers}},
                    rows) +
         "</details>\n";
}

Result<std::string> incidents(storage::IncidentStore& store) {
  TW_TRY(const auto listed, store.list(kIncidentsShown));
  Rows rows;
  for (const auto& incident : listed) {
    rows.push_back({std::to_string(incident.id), doors::date_and_minute(incident.opened_at),
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

Result<std::string> nights(storage::NightStore& store, storage::BuildStore& builds) {
  TW_TRY(const auto listed, store.list(kNightsShown));
  Rows rows;
  for (const auto& night : listed) {
    TW_TRY(const auto candidate, builds.get(night.candidate));
    std::string baseline;
    if (night.baseline) {
      TW_TRY(const auto build, builds.get(*night.baseline));
      baseline = build.name;
    }
    rows.push_back({doors::date_and_minute(night.created_at), std::string(to_string(night.kind)),
                    candidate.name, baseline, std::string(to_string(night.state)), night.reason});
  }
  if (rows.empty()) return "<p>None yet.</p>\n";
  return html_table({{"begun, UTC", Cells::words},
                     {"kind", Cells::words},
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
    "<p>Each new build of PyTorch, measured against the one before.</p>\n</header>\n";

constexpr const char* kFooter =
    "<footer>\n<p>For programs: <a href=\"api/v1/nightlies\">nightlies</a>, "
    "<a href=\"api/v1/incidents\">incidents</a>, <a href=\"api/v1/bisections\">bisections</a>, "
    "<a href=\"api/v1/builds\">builds</a>, <a href=\"api/v1/self-tests\">self-tests</a>, "
    "<a href=\"healthz\">health</a></p>\n</footer>\n";

}  // namespace

Result<Reply> get_overview(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  storage::NightStore night_store(backend.database);
  storage::IncidentStore incident_store(backend.database);
  storage::BuildStore build_store(backend.database);
  TW_TRY(const auto told, self_tests(night_store));
  TW_TRY(const auto found, incidents(incident_store));
  TW_TRY(const auto measured, nights(night_store, build_store));
  const std::string body = kHeader +
                           ("<main>\n" + section("How often the service is wrong", told) +
                            section("Incidents", found) + section("Nights", measured)) +
                           "</main>\n" + kFooter;
  return Reply{200, "text/html; charset=utf-8", html_page("torchwatch", body), {}};
}

}  // namespace torchwatch::web::handlers
