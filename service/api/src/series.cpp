#include "torchwatch/evidence/series.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "handlers.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/machine.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

/// Reads the series that a path names. Errors: invalid, saying which part names nothing.
Result<Series> series_of(const Request& request) {
  const auto& parts = request.path_parameters;
  const auto configuration = parse_configuration(parts.at("configuration"));
  const auto variant = parse_variant(parts.at("variant"));
  const auto metric = parse_metric(parts.at("metric"));
  if (!configuration) return fail(configuration.error().as(ErrorCode::not_found));
  if (!variant) return fail(variant.error().as(ErrorCode::not_found));
  if (!metric) return fail(metric.error().as(ErrorCode::not_found));
  return Series{{parts.at("workload"), *configuration, *variant}, *metric};
}

/// A value of a run, with the build that it measured.
Result<json> value_json(const storage::RunValue& value, const Request& request,
                        storage::BuildStore& builds,
                        std::map<storage::Id, storage::BuildRow>& known) {
  if (!known.contains(value.build)) {
    TW_TRY(known[value.build], builds.get(value.build));
  }
  const auto& build = known[value.build];
  auto object = report::json_of(value, build);
  object["build"]["name"] = name_of(build, request);
  object["run"] = with_url(std::move(object["run"]), "/api/v1/runs");
  return object;
}

/// The machine class that values are of, all of one.
Result<json> class_of(const std::vector<storage::RunValue>& values, const Backend& backend) {
  if (values.empty() || !values.back().machine) return json(nullptr);
  TW_TRY(const auto machine, storage::RunReader(backend.database).machine(*values.back().machine));
  return report::json_of(machine.machine_class);
}

}  // namespace

std::string name_of(const Series& series) {
  const auto& [workload, configuration, variant] = series.benchmark;
  return workload + "/" + to_string(configuration) + "/" + to_string(variant) + "/" +
         std::string(to_string(series.metric));
}

std::string path_of(const Series& series) {
  return std::string(kSeriesPath) + http::percent_encoded_path(name_of(series));
}

Result<Reply> list_series(const Request& request, const Backend& backend) {
  TW_TRY(const auto named,
         named_page_of(request, {"workload", "configuration", "variant", "metric"}));
  const auto& page = named.page;
  TW_TRY_VOID(check_word<Metric>(page, "metric"));
  TW_TRY(const auto all, storage::RunStore(backend.database).all_series());
  std::vector<NamedEntry> fitting;
  for (const auto& series : all) {
    const bool fits = page.admits("workload", series.benchmark.workload) &&
                      page.admits("configuration", to_string(series.benchmark.configuration)) &&
                      page.admits("variant", to_string(series.benchmark.variant)) &&
                      page.admits("metric", to_string(series.metric));
    if (!fits) continue;
    fitting.push_back({name_of(series), report::json_of(series)});
    fitting.back().entry["url"] = path_of(series);
  }
  return list_named("series", std::move(fitting), named);
}

namespace {

/// How much the values differ from run to run of one build.
Result<json> noise_json(const Series& series, const Backend& backend) {
  if (!backend.noise_of || !is_judged(series.metric)) return json(nullptr);
  TW_TRY(const auto noise, backend.noise_of(series));
  if (!noise) return json(nullptr);
  const auto& effect = noise->minimum_detectable_effect;
  return json{{"pairs", noise->pairs},
              {"spread", noise->spread},
              {"minimum_detectable_effect", effect ? json(*effect) : json(nullptr)}};
}

/// What drift is judged against.
Result<json> drift_json(const Series& series, const Request& request, const Backend& backend) {
  auto context = context_of(request, backend);
  context.links.comparison = [](storage::Id id) {
    return "/api/v1/comparisons/" + std::to_string(id);
  };
  TW_TRY(const auto reference, evidence::drift_reference_of(context, series));
  if (!reference) return json(nullptr);
  return json{{"build", reference->build},
              {"value", reference->value},
              {"compared_at", reference->time},
              {"url", reference->link}};
}

/// Seven digits: the ends of an interval have no more, and their texts would be twice as long.
json shortened(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  constexpr int kDigits = 7;
  const double scale = std::pow(10, kDigits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

constexpr std::array kColumns{"time",    "value", "low",   "high",
                              "verdict", "runs",  "build", "comparison"};

/// What the columns say of one comparison.
std::array<json, kColumns.size()> row_of(const storage::PastValue& past, const Request& request) {
  const bool has_interval = figures::is_known(past.interval_low, past.interval_high);
  const auto end = [&](double ratio) {
    return has_interval ? shortened(ratio * past.baseline_value) : json(nullptr);
  };
  return {report::time_of(past.nightly.at),
          past.candidate_value,
          end(past.interval_low),
          end(past.interval_high),
          to_string(past.verdict),
          past.runs,
          name_of(past.nightly.origin, past.nightly.build, request),
          past.nightly.comparison};
}

}  // namespace

Result<Reply> get_history(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_others(request, {"limit", "machine_class"}));
  TW_TRY(const auto page, http::page_of(request, {"machine_class"}));
  TW_TRY(const auto series, series_of(request));
  std::optional<storage::Id> of_class;
  if (page.filters.contains("machine_class")) {
    TW_TRY(of_class, http::id_in("machine_class", page.filters.at("machine_class")));
  }
  TW_TRY(const auto values,
         storage::RunStore(backend.database)
             .history(series, page.limit, storage::RunStore::HistoryOf::all_builds, of_class));
  if (values.empty()) TW_TRY_VOID(named_workload(backend, series.benchmark.workload));
  storage::BuildStore builds(backend.database);
  std::map<storage::Id, storage::BuildRow> known;
  json out = report::json_of(series);
  TW_TRY(out["machine_class"], class_of(values, backend));
  out["values"] = json::array();
  for (const auto& value : values) {
    TW_TRY(out["values"].emplace_back(), value_json(value, request, builds, known));
  }
  TW_TRY(out["annotations"], annotations_of(series, values, backend));
  TW_TRY(out["noise"], noise_json(series, backend));
  TW_TRY(out["drift_reference"], drift_json(series, request, backend));
  return http::object_reply(out);
}

Result<Reply> get_past(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto series, series_of(request));
  TW_TRY(const auto past, backend.past_of(series));
  if (past.empty()) TW_TRY_VOID(named_workload(backend, series.benchmark.workload));
  std::array<json::array_t, kColumns.size()> columns;
  for (auto& column : columns) column.reserve(past.size());
  for (const auto& each : past) {
    auto row = row_of(each, request);
    for (std::size_t i = 0; i < row.size(); ++i) columns.at(i).push_back(std::move(row.at(i)));
  }
  json out = report::json_of(series);
  out["comparison_url"] = "/api/v1/comparisons/";
  for (std::size_t i = 0; i < columns.size(); ++i) out[kColumns.at(i)] = std::move(columns.at(i));
  return http::object_reply(out);
}

}  // namespace torchwatch::api
