#include <algorithm>
#include <map>
#include <string_view>

#include "handlers.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

/// Reads the series that a path names. Errors: invalid, saying which part names nothing.
Result<Series> series_of(const Request& request) {
  const auto& parts = request.path_parameters;
  Series series;
  series.benchmark.workload = parts.at("workload");
  TW_TRY(series.benchmark.configuration, parse_configuration(parts.at("configuration")));
  TW_TRY(series.benchmark.variant, parse_variant(parts.at("variant")));
  TW_TRY(series.metric, parse_metric(parts.at("metric")));
  return series;
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

}  // namespace

std::string name_of(const Series& series) {
  const auto& [workload, configuration, variant] = series.benchmark;
  return workload + "/" + to_string(configuration) + "/" + to_string(variant) + "/" +
         std::string(to_string(series.metric));
}

std::string path_of(const Series& series) {
  return std::string(kSeriesPath) + name_of(series);
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
    const auto path = path_of(series);
    fitting.push_back({path.substr(kSeriesPath.size()), report::json_of(series)});
    fitting.back().entry["url"] = path;
  }
  return list_named("series", std::move(fitting), named);
}

Result<Reply> get_history(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request));
  const auto series = series_of(request);
  if (!series) return fail(series.error().as(ErrorCode::not_found));
  TW_TRY(const auto values, storage::RunStore(backend.database).history(*series, page.limit));
  storage::BuildStore builds(backend.database);
  std::map<storage::Id, storage::BuildRow> known;
  json out = report::json_of(*series);
  out["values"] = json::array();
  for (const auto& value : values) {
    TW_TRY(out["values"].emplace_back(), value_json(value, request, builds, known));
  }
  TW_TRY(out["annotations"], annotations_of(*series, values, backend));
  return http::object_reply(out);
}

}  // namespace torchwatch::api
