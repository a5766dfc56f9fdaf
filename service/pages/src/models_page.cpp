#include <algorithm>
#include <map>

#include "items.hpp"
#include "torchwatch/canvas/strip.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/site/members.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using nlohmann::json;
using storage::VerdictRow;

/// The number of nightlies in a row of blocks.
constexpr int kBlocks = 10;
constexpr std::string_view kModelsAtOnce = "200";

/// The newest nightly's verdicts, and the times of the nightlies before it that have one.
struct Newest {
  std::map<Series, VerdictRow> verdicts = {};
  std::map<Series, std::vector<double>> times = {};
  double threshold = 0;
};

/// Adds the times of the series that the filter admits.
Status add_times(const View& view, storage::Id comparison, const storage::LevelFilter& filter,
                 Newest& found) {
  TW_TRY(const auto past,
         evidence::sparklines_of(context_of(view), comparison, Metric::time, kBlocks, filter));
  for (const auto& line : past.lines) {
    for (const auto& value : line.values) {
      if (value) found.times[line.series].push_back(*value);
    }
  }
  return {};
}

/// Reads the times of all models.
Result<Newest> newest_times(const View& view) {
  Newest found{.threshold = view.sources.threshold};
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  if (!newest.judged) return found;
  const auto id = newest.judged->id;
  TW_TRY(const auto verdicts, storage::verdicts_of(view.sources.database, id, Metric::time));
  for (const auto& row : verdicts) found.verdicts.emplace(row.series, row);
  TW_TRY_VOID(add_times(view, id, {}, found));
  return found;
}

/// Reads these series of one model.
Result<Newest> newest_of_model(const View& view, const std::string& model,
                               const std::vector<Series>& all) {
  Newest found{.threshold = view.sources.threshold};
  TW_TRY(const auto newest, report::newest_nightly(view.sources.database));
  if (!newest.judged) return found;
  const auto id = newest.judged->id;
  for (const auto& series : all) {
    TW_TRY(const auto verdict, storage::verdict_on(view.sources.database, id, series));
    if (verdict) found.verdicts.emplace(series, *verdict);
  }
  TW_TRY_VOID(add_times(view, id, {.workload = model}, found));
  return found;
}

/// "▁▁▂▁█" of the nightlies that have a value. A strip is as high as the threshold at
/// least: noise must not look like a change.
std::string blocks_of(const Newest& newest, const Series& series) {
  const auto times = newest.times.find(series);
  if (times == newest.times.end()) return "";
  const auto [least, greatest] = std::ranges::minmax(times->second);
  return drawing::strip(times->second, least, std::max(greatest, least * newest.threshold));
}

const VerdictRow* verdict_of(const Newest& newest, const Series& series) {
  const auto found = newest.verdicts.find(series);
  return found == newest.verdicts.end() ? nullptr : &found->second;
}

/// "+15.0 % regressed": the change of the newest nightly, with its word.
std::string change_of(const VerdictRow& row) {
  const auto change = report::change_text(report::effect_of(row));
  return (change.empty() ? "" : change + " ") + std::string(to_string(row.verdict));
}

/// A configuration of a model in the list: its series, its past and its newest change.
html::Cell configuration_cell(const std::string& model, Configuration configuration,
                              const Newest& newest, const View& view) {
  const Series series{{model, configuration, {}}, Metric::time};
  const auto* verdict = verdict_of(newest, series);
  if (verdict == nullptr) return "";
  html::Cell cell(change_of(*verdict), view.to_series(series), blocks_of(newest, series));
  if (verdict->ratio > 0) cell.order = verdict->ratio;
  return cell;
}

/// The series of a model as the API lists them.
std::vector<Series> series_of(const json& model) {
  std::vector<Series> all;
  for (const auto& benchmark : model.value("measured", json::array())) {
    const auto configuration = parse_configuration(benchmark.value("configuration", ""));
    const auto variant = parse_variant(benchmark.value("variant", ""));
    if (!configuration || !variant) continue;
    for (const auto& series : benchmark.value("series", json::array())) {
      const auto metric = parse_metric(series.value("metric", ""));
      if (metric) all.push_back({{model.value("name", ""), *configuration, *variant}, *metric});
    }
  }
  return all;
}

Result<html::Fragment> series_table(const json& model, const View& view) {
  const auto all = series_of(model);
  TW_TRY(const auto newest, newest_of_model(view, text_of(model, "name"), all));
  html::Table table{
      .columns = {{"configuration", Cells::words, "configuration"},
                  {"metric", Cells::words, "metric"},
                  {"newest value", Cells::numbers},
                  {"change in the newest nightly, more is worse", Cells::numbers, "change"},
                  {"interval", Cells::numbers},
                  {"spread", Cells::numbers, "spread"},
                  {"lately"}}};
  for (const auto& series : all) {
    const auto* verdict = verdict_of(newest, series);
    const auto effect = verdict != nullptr ? report::effect_of(*verdict) : report::EffectFacts{};
    const bool has_value = verdict != nullptr && verdict->candidate_value != 0;
    html::Cell change(verdict == nullptr ? "" : change_of(*verdict), effect.ratio);
    html::Cell spread(has_value ? figures::spread(verdict->candidate_spread) : "",
                      effect.candidate_spread);
    table.rows.push_back({{report::configuration_text(series.benchmark), view.to_series(series)},
                          to_string(series.metric),
                          has_value ? figures::value(series.metric, verdict->candidate_value) : "",
                          change,
                          verdict == nullptr ? "" : report::interval_text(effect),
                          spread,
                          blocks_of(newest, series)});
  }
  return sorted_table(view, std::move(table), "No value of it is stored yet.");
}

}  // namespace

Result<Page> make_models(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"domain", "sort"}));
  std::multimap<std::string, std::string> query{{"limit", std::string(kModelsAtOnce)}};
  if (parameters.contains("domain")) query.emplace("domain", parameters.at("domain"));
  TW_TRY(const auto listed, ask_for_json(view, "/api/v1/workloads", query));
  TW_TRY(const auto newest, newest_times(view));
  html::Table table{
      .columns = {{"model", Cells::words, "model"}, {"domain", Cells::texts, "domain"}, {"task"}}};
  std::vector<Configuration> configurations;
  for (const auto device : {Device::cpu, Device::cuda}) {
    for (const auto mode : {Mode::train, Mode::infer}) {
      const Configuration configuration{device, mode};
      configurations.push_back(configuration);
      table.columns.push_back({to_string(configuration), Cells::texts, to_string(configuration)});
    }
  }
  for (const auto& model : listed.at("workloads")) {
    const auto name = text_of(model, "name");
    const auto domain = text_of(model, "domain");
    std::vector<html::Cell> row{
        {name, view.to_model(name)},
        {domain, domain.empty() ? "" : view.with_parameter("domain", domain)},
        text_of(model, "task")};
    for (const auto configuration : configurations) {
      row.push_back(configuration_cell(name, configuration, newest, view));
    }
    table.rows.push_back(std::move(row));
  }
  const auto count = figures::count(table.rows.size(), "model");
  TW_TRY(const auto sorted, sorted_table(view, std::move(table)));
  auto content =
      html::title("Models") +
      html::paragraph(html::text(
          count + ". Changes of time per iteration in the newest nightly, more is "
                  "worse. The blocks are the nightlies up to it, the slowest the highest; "
                  "what differs by less than the threshold stays low.")) +
      sorted;
  if (parameters.contains("domain")) {
    content += html::paragraph(html::link(view.with_parameter("domain", ""), "All domains"));
  }
  content += html::paragraph(html::link(view.root + "series", "All series"), "more") +
             html::paragraph(html::link(view.root + "coverage",
                                        "Coverage: the operators that these models call"),
                             "more");
  return Page{.title = "Models", .content = content, .section = "Models"};
}

/// Empty where the mode is refused, or the workload is not one of the suite.
std::string batch_of(const json& model, const char* mode) {
  return model.at(mode) == 0 ? "" : text_of(model, mode);
}

Result<Page> make_model(const View& view) {
  TW_TRY_VOID(parameters_of(view, {"sort"}));
  const auto& name = view.request.path_parameters.at("name");
  TW_TRY(const auto model, ask_for_json(view, "/api/v1/workloads/" + name));
  TW_TRY(const auto table, series_table(model, view));
  const auto content = html::title(name) +
                       html::facts({{"domain", text_of(model, "domain")},
                                    {"task", text_of(model, "task")},
                                    {"paper train batch", batch_of(model, "train_batch")},
                                    {"paper infer batch", batch_of(model, "eval_batch")}}) +
                       html::section("Series", table) +
                       html::paragraph(html::text(
                           "Measure it alone: `torchwatch measure BUILD --workload " + name + "`"));
  return Page{.title = name,
              .content = content,
              .section = "Models",
              .way = {{view.root + "models", "Models"}}};
}

}  // namespace torchwatch::pages
