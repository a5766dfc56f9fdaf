#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>

#include "handlers.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

/// Reads "2026-08-17"; nothing for what is not a day of the calendar.
std::optional<std::chrono::sys_days> day_of(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool has_form = std::ranges::equal(
      text, kForm, [&](char c, char form) { return form == 'd' ? is_digit(c) : c == form; });
  if (!has_form) return std::nullopt;
  const std::chrono::year_month_day day(
      std::chrono::year(std::stoi(text.substr(0, 4))),
      std::chrono::month(static_cast<unsigned>(std::stoi(text.substr(5, 2)))),
      std::chrono::day(static_cast<unsigned>(std::stoi(text.substr(8, 2)))));
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day);
}

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

Result<Days> days_of(const http::Page& page) {
  Days days;
  for (const std::string name : {"from", "to"}) {
    const auto given = page.filters.find(name);
    if (given == page.filters.end()) continue;
    const auto day = day_of(given->second);
    if (!day) {
      return fail(ErrorCode::invalid, "invalid " + name + " \"" + given->second.substr(0, 100) +
                                          "\": must be a date, such as 2026-08-17");
    }
    using std::chrono::milliseconds;
    if (name == "from") days.from = milliseconds(day->time_since_epoch()).count();
    if (name == "to")
      days.until = milliseconds((*day + std::chrono::days(1)).time_since_epoch()).count();
  }
  return days;
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
  if (!series) return fail(ErrorCode::not_found, series.error().message);
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
