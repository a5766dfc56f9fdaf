#include "map_section.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "items.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::pages {
namespace {

using storage::VerdictRow;

const std::vector<std::string> kOrders{"effect", "name", "domain"};

/// The metrics that the comparison has verdicts on.
std::vector<std::string> metrics_of(const std::vector<VerdictRow>& verdicts) {
  std::vector<std::string> metrics;
  for (const auto& word : Words<Metric>::kAll) {
    const auto has = [&](const VerdictRow& row) { return row.series.metric == word.value; };
    if (std::ranges::any_of(verdicts, has)) metrics.emplace_back(word.spelling);
  }
  return metrics;
}

/// "cpu-train -0.3 % over 84 models": only those that ran with both builds.
std::string mean_of(const drawing::HeatMap& map, std::size_t column) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& row : map.rows) {
    const auto& ratio = row.cells[column].ratio;
    if (!ratio || *ratio <= 0) continue;
    sum += std::log(*ratio);
    ++count;
  }
  if (count == 0) return "";
  return map.configurations[column] + " " +
         figures::change(std::exp(sum / static_cast<double>(count))) + " over " +
         figures::count(count, "model");
}

std::string means_text(const drawing::HeatMap& map) {
  std::string text;
  for (std::size_t i = 0; i < map.configurations.size(); ++i) {
    const auto mean = mean_of(map, i);
    if (!mean.empty()) text += (text.empty() ? "" : ", ") + mean;
  }
  return text.empty()
             ? "No model has values with both builds."
             : "Geometric mean of the models that ran with both builds, more is worse: " + text +
                   ".";
}

/// The past of each model in one configuration, in the order of the heat map above it.
Result<html::Fragment> multiples_section(const storage::ComparisonRow& row, const Shown& shown,
                                         const drawing::HeatMap& map, const View& view) {
  if (map.rows.empty() || map.configurations.empty()) return html::Fragment();
  const auto& first = map.configurations.front();
  const auto wanted = shown.configuration.empty() ? first : shown.configuration;
  // Which there are, no description of the API can say: it is not there, rather than wrong.
  const auto is_there = check_choice("configuration", wanted, map.configurations);
  if (!is_there) return fail(is_there.error().as(ErrorCode::not_found));
  TW_TRY(const auto configuration, parse_configuration(wanted));
  const auto context = context_of(view);
  TW_TRY(const auto sparklines,
         evidence::sparklines_of(context, row.id, shown.metric, evidence::kSparklineValues,
                                 {.configuration = configuration}));
  auto multiples = evidence::small_multiples_of(context, sparklines, configuration, map);
  multiples.frame.id = "past";
  const auto nightlies = figures::grouped(std::ssize(sparklines.comparisons));
  return html::section(
      "The past of each model",
      choice(view, "configuration", wanted, first, map.configurations) +
          figure_of(multiples, "The nightlies up to this comparison, " + nightlies +
                                   " of at most " + std::to_string(evidence::kSparklineValues) +
                                   "; " + wanted),
      "pasts");
}

/// The rows of a heat map that have a verdict which `only` asks for.
std::set<std::string> wanted_rows(const report::SortedVerdicts& sorted, const Shown& shown) {
  std::set<std::string> names;
  const auto add = [&](std::string_view only, const std::vector<VerdictRow>& rows) {
    if (shown.only != only) return;
    for (const auto& row : rows) {
      if (row.series.metric == shown.metric) names.insert(evidence::row_name(row.series.benchmark));
    }
  };
  add("regressed", sorted.regressed);
  add("improved", sorted.improved);
  add("unsure", sorted.undecided);
  add("failed", sorted.lost);
  add("failed", sorted.failed);
  add("failed", sorted.unsupported);
  add("unchanged", sorted.unchanged);
  return names;
}

/// Draws those models of the whole map that `only` asks for; a sentence where no model is one.
html::Fragment map_figure(const drawing::HeatMap& map, std::size_t models, const Shown& shown) {
  const auto metric = std::string(figures::name_of(shown.metric));
  const auto all = figures::count(models, "model");
  const bool is_part = shown.only != "all";
  if (is_part && map.rows.empty()) {
    return html::paragraph(
        html::text("Only " + shown.only + ": none of " + all + " in " + metric + "."));
  }
  const auto part = is_part ? std::to_string(map.rows.size()) + " of " : "";
  return figure_of(map, "Change of " + metric + ", " + part + all + " in " +
                            figures::count(map.configurations.size(), "configuration") +
                            (is_part ? ", only " + shown.only : ""));
}

}  // namespace

Result<Shown> shown_of(const View& view) {
  TW_TRY(const auto parameters, parameters_of(view, {"metric", "only", "order", "configuration"}));
  Shown shown{.only = value_or(parameters, "only", "all"),
              .configuration = value_or(parameters, "configuration", "")};
  TW_TRY(shown.metric, parse_judged_metric(value_or(parameters, "metric", "time")));
  TW_TRY_VOID(check_choice("only", shown.only, kOnly));
  const auto order = value_or(parameters, "order", "effect");
  TW_TRY_VOID(check_choice("order", order, kOrders));
  if (order == "name") shown.order = evidence::HeatOrder::name;
  if (order == "domain") shown.order = evidence::HeatOrder::domain;
  return shown;
}

Result<html::Fragment> heat_map_section(const storage::ComparisonRow& row, const Shown& shown,
                                        const std::vector<VerdictRow>& verdicts,
                                        const report::SortedVerdicts& sorted, const View& view) {
  if (verdicts.empty()) return html::Fragment();
  TW_TRY(auto map, evidence::heat_map_of(context_of(view), row, verdicts, shown.metric,
                                         domains_of(view), shown.order));
  map.frame.id = "map";
  // The means are of the whole comparison, whatever part of it is shown.
  const auto means = means_text(map);
  const auto models = map.rows.size();
  if (shown.only != "all") {
    const auto wanted = wanted_rows(sorted, shown);
    std::erase_if(map.rows, [&](const auto& each) { return !wanted.contains(each.workload); });
  }
  TW_TRY(const auto pasts, multiples_section(row, shown, map, view));
  const auto metric = std::string(to_string(shown.metric));
  const auto order = view.request.query.find("order");
  return html::section(
             "All models",
             choice(view, "metric", metric, "time", metrics_of(verdicts)) +
                 choice(view, "order", order == view.request.query.end() ? "effect" : order->second,
                        "effect", kOrders) +
                 html::paragraph(html::text(means)) + map_figure(map, models, shown),
             "map") +
         pasts;
}

Result<html::Fragment> newest_matrix(const std::vector<storage::ComparisonRow>& rows,
                                     const View& view) {
  TW_TRY(const auto shown, shown_of(view));
  for (const auto& row : rows) {
    // What these found lies in a setting or was planted, and not in the build.
    const bool says_nothing_of_builds =
        row.purpose == storage::Purpose::drill || row.purpose == storage::Purpose::study;
    if (says_nothing_of_builds) continue;
    TW_TRY(const auto verdicts, storage::verdicts_of(view.sources.database, row.id));
    if (verdicts.empty()) continue;
    TW_TRY(const auto incidents,
           storage::IncidentStore(view.sources.database).of_comparison(row.id));
    return heat_map_section(row, shown, verdicts, report::sorted(verdicts, incidents), view);
  }
  return html::Fragment();
}

}  // namespace torchwatch::pages
