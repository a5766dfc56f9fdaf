#include <cmath>

#include "handlers.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

/// Runs of both sides make pairs.
constexpr int kRunsOfPair = 2;

/// Reads ?metric=; the time where it is not given. Errors: invalid.
Result<Metric> metric_of(const Request& request) {
  TW_TRY(const auto filters, http::filters_of(request, {"metric"}));
  const auto given = filters.find("metric");
  if (given == filters.end()) return Metric::time;
  return parse_judged_metric(given->second);
}

/// What the columns of a comparison's series are of.
json head_of(storage::Id comparison, Metric metric) {
  return {{"comparison", comparison},
          {"url", "/api/v1/comparisons/" + std::to_string(comparison)},
          {"metric", to_string(metric)},
          {"unit", unit_of(metric)},
          {"series_url", kSeriesPath}};
}

void add_row(json& columns, const storage::VerdictRow& row) {
  const bool has_interval = figures::is_known(row.interval_low, row.interval_high);
  const auto value_if = [](bool known, double value) {
    return known && std::isfinite(value) ? json(value) : json(nullptr);
  };
  columns["series"].push_back(name_of(row.series));
  columns["verdict"].push_back(to_string(row.verdict));
  columns["ratio"].push_back(value_if(row.ratio > 0, row.ratio));
  columns["low"].push_back(value_if(has_interval, row.interval_low));
  columns["high"].push_back(value_if(has_interval, row.interval_high));
  columns["baseline_value"].push_back(value_if(true, row.baseline_value));
  columns["candidate_value"].push_back(value_if(true, row.candidate_value));
  columns["pairs"].push_back(row.runs / kRunsOfPair);
}

json running_json(const std::vector<evidence::RunningRun>& runs) {
  auto listed = json::array();
  for (const auto& run : runs) {
    auto object = report::json_of(run.benchmark);
    object["run"] = run_link(run.run);
    object["pass"] = to_string(run.pass);
    object["since"] = report::time_of(run.since);
    listed.push_back(std::move(object));
  }
  return listed;
}

json progress_json(const evidence::Progress& progress) {
  return {{"first_run_at", report::time_of(progress.first_run_at)},
          {"confirm_began_at", report::time_of(progress.confirm_began_at)},
          {"last_run_at", report::time_of(progress.last_run_at)},
          {"benchmarks_planned", progress.benchmarks_planned},
          {"benchmarks_begun", progress.benchmarks_begun},
          {"runs_done", progress.runs_done},
          {"runs_failed", progress.runs_failed},
          {"bisections_open", progress.bisections_open},
          {"running", running_json(progress.running)},
          {"estimate", estimate_json(progress.left)}};
}

}  // namespace

Result<Reply> get_matrix(const Request& request, const Backend& backend) {
  TW_TRY(const auto metric, metric_of(request));
  TW_TRY(const auto id, http::id_of(request));
  storage::ComparisonStore comparisons(backend.database);
  TW_TRY_VOID(comparisons.get(id));
  TW_TRY(const auto verdicts, storage::verdicts_of(backend.database, id, metric));
  auto columns = head_of(id, metric);
  for (const auto* name : {"series", "verdict", "ratio", "low", "high", "baseline_value",
                           "candidate_value", "pairs"}) {
    columns[name] = json::array();
  }
  for (const auto& row : verdicts) add_row(columns, row);
  return http::object_reply(columns);
}

Result<Reply> get_sparklines(const Request& request, const Backend& backend) {
  TW_TRY(const auto metric, metric_of(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY_VOID(storage::ComparisonStore(backend.database).get(id));
  TW_TRY(const auto all, evidence::sparklines_of(context_of(request, backend), id, metric));
  auto out = head_of(id, metric);
  out["comparisons"] = all.comparisons;
  out["series"] = json::array();
  out["values"] = json::array();
  for (const auto& each : all.lines) {
    out["series"].push_back(name_of(each.series));
    auto& line = out["values"].emplace_back(json::array());
    for (const auto& value : each.values) line.push_back(value ? json(*value) : json(nullptr));
  }
  return http::object_reply(out);
}

Result<Reply> get_current_comparison(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  const auto at_work = backend.service_now ? backend.service_now().doing.comparison : std::nullopt;
  TW_TRY(const auto row, evidence::current_comparison(backend.database, at_work));
  json out{{"comparison", nullptr}, {"progress", nullptr}};
  if (!row) return http::object_reply(out);
  out["comparison"] = comparisons_json(storage::listed({*row}), request, backend).front();
  TW_TRY(const auto progress,
         evidence::progress_of(backend.database, *row, backend.clock.wall_now()));
  out["progress"] = progress_json(progress);
  return http::object_reply(out);
}

}  // namespace torchwatch::api
