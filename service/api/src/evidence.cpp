#include <algorithm>

#include "handlers.hpp"
#include "torchwatch/evidence/bisection.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using storage::IncidentRow;

/// Whether the filters name the series, or nothing that it is not.
bool is_named(const Series& series, const http::Filters& filters) {
  const auto admits = [&](const char* filter, std::string_view value) {
    const auto given = filters.find(filter);
    return given == filters.end() || given->second == value;
  };
  const auto& [workload, configuration, variant] = series.benchmark;
  return admits("workload", workload) && admits("configuration", to_string(configuration)) &&
         admits("variant", to_string(variant)) && admits("metric", to_string(series.metric));
}

json series_json(const IncidentRow& incident) {
  auto listed = json::array();
  for (const auto& effect : incident.series) {
    listed.push_back(report::json_of(effect));
    listed.back()["url"] = path_of(effect.series);
  }
  return listed;
}

json run_json(const evidence::SeriesRun& run) {
  return {{"run", run_link(run.run)},
          {"side", spelling(run.side)},
          {"stage", spelling(run.stage)},
          {"thinned", run.is_thinned},
          {"median", run.median},
          {"beside", values_json(run.beside)},
          {"values", run.is_thinned ? json(nullptr) : json(run.samples)}};
}

json side_json(const std::vector<double>& bytes, const std::optional<double>& slope) {
  return {{"bytes", bytes}, {"slope", slope ? json(*slope) : json(nullptr)}};
}

/// The levels of memory; null for other metrics and where there are none.
Result<json> memory_json(const evidence::Context& context, const storage::ComparisonRow& comparison,
                         const Series& series) {
  if (pass_of(series.metric) != Pass::memory) return nullptr;
  TW_TRY(const auto levels, evidence::memory_levels_of(context, comparison, series));
  if (!levels) return nullptr;
  return json{{"baseline", side_json(levels->baseline_bytes, levels->baseline_slope)},
              {"candidate", side_json(levels->candidate_bytes, levels->candidate_slope)}};
}

/// Every sample of one series, in the order of its runs.
Result<json> samples_json(const evidence::Context& context,
                          const storage::ComparisonRow& comparison, const Series& series) {
  TW_TRY(const auto runs, evidence::runs_of(context, comparison, series));
  auto object = report::json_of(series);
  object["url"] = path_of(series);
  object["thinned_runs"] = std::ranges::count_if(runs, &evidence::SeriesRun::is_thinned);
  object["runs"] = json::array();
  for (const auto& run : runs) object["runs"].push_back(run_json(run));
  TW_TRY(object["memory"], memory_json(context, comparison, series));
  return object;
}

/// Finds the series that the filters name, the first one without. Errors: not_found.
Result<const storage::IncidentSeriesRow*> series_named(const IncidentRow& incident,
                                                       const http::Filters& filters) {
  const auto found = std::ranges::find_if(
      incident.series, [&](const auto& row) { return is_named(row.series, filters); });
  if (found != incident.series.end()) return &*found;
  if (filters.empty()) return nullptr;
  return fail(ErrorCode::not_found,
              "incident " + std::to_string(incident.id) + " has no such series");
}

std::string_view word_of(drawing::CommitState state) {
  switch (state) {
    case drawing::CommitState::searched:
      return "searched";
    case drawing::CommitState::folded:
      return "folded";
    case drawing::CommitState::unbuildable:
      return "unbuildable";
    case drawing::CommitState::suspect:
      return "suspect";
    case drawing::CommitState::culprit:
      return "culprit";
  }
  return "";
}

json commits_json(const std::vector<drawing::SearchedCommit>& commits) {
  auto listed = json::array();
  for (const auto& commit : commits) {
    listed.push_back({{"commit", commit.sha},
                      {"state", word_of(commit.state)},
                      {"remark", report::text_or_null(commit.subject)}});
  }
  return listed;
}

json steps_json(const drawing::PosteriorSteps& drawn) {
  auto listed = json::array();
  for (const auto& step : drawn.steps) {
    listed.push_back({{"commit", step.probe ? json(drawn.commits[*step.probe].sha) : json(nullptr)},
                      {"ratio", step.ratio ? json(*step.ratio) : json(nullptr)},
                      {"probabilities", step.masses},
                      {"why", report::text_or_null(step.why)}});
  }
  return listed;
}

/// What an open search does next and what it has cost; null for others.
json outlook_json(const std::optional<report::SearchOutlook>& outlook) {
  if (!outlook) return nullptr;
  const auto& next = outlook->next;
  return json{{"text", sentence_on(*outlook)},
              {"commit", next ? report::text_or_null(next->commit) : json(nullptr)},
              {"needs_build", outlook->needs_build},
              {"builds", outlook->spent.builds},
              {"builds_max", outlook->builds_max},
              {"runs", outlook->spent.runs},
              {"runs_max", outlook->runs_max},
              {"commits_left", outlook->commits_left}};
}

}  // namespace

Result<Reply> get_evidence(const Request& request, const Backend& backend) {
  TW_TRY(const auto filters,
         http::filters_of(request, {"workload", "configuration", "variant", "metric"}));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto incident, storage::IncidentStore(backend.database).get(id));
  TW_TRY(const auto* const row, series_named(incident, filters));
  TW_TRY(const auto comparison,
         storage::ComparisonStore(backend.database).get(incident.comparison));
  const auto context = context_of(request, backend);
  json out{{"incident", id},
           {"url", "/api/v1/incidents/" + std::to_string(id)},
           {"comparison", with_url({{"id", comparison.id}}, "/api/v1/comparisons")},
           {"series", series_json(incident)},
           {"samples", nullptr}};
  if (row != nullptr) {
    TW_TRY(out["samples"], samples_json(context, comparison, row->series));
  }
  return http::object_reply(out);
}

Result<Reply> get_steps(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto row, storage::BisectionStore(backend.database).get(id));
  const auto replay = backend.replay_of ? backend.replay_of(row) : report::SearchReplay();
  const auto drawn = evidence::posterior_steps(context_of(request, backend), row, replay.steps);
  return http::object_reply({{"bisection", id},
                             {"url", "/api/v1/bisections/" + std::to_string(id)},
                             {"good", row.good},
                             {"bad", row.bad},
                             {"commits", commits_json(drawn.commits)},
                             {"steps", steps_json(drawn)},
                             {"outlook", outlook_json(replay.outlook)},
                             {"unread", report::text_or_null(unread_text(replay, row))}});
}

}  // namespace torchwatch::api
