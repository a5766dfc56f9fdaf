#include "torchwatch/evidence/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "drawn.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::evidence {
namespace {

using drawing::HeatCell;
using drawing::HeatRow;
using storage::VerdictRow;

bool is_change(Verdict verdict) {
  return verdict == Verdict::regressed || verdict == Verdict::improved;
}

/// How far a ratio is from no change; 0 without one.
double size_of(double ratio) {
  return ratio > 0 ? std::abs(std::log(ratio)) : 0;
}

template <typename Row>
drawing::ForestRow forest_row(const Row& row, Verdict verdict, const Context& context) {
  return {.label = to_string(row.series),
          .ratio = row.ratio,
          .interval = interval_of(row),
          .verdict = verdict,
          .link = address_of(context.links.series, row.series),
          .threshold = threshold_of(row, context)};
}

void sort_by_size(std::vector<drawing::ForestRow>& rows) {
  std::ranges::stable_sort(rows, std::greater{},
                           [](const auto& row) { return size_of(row.ratio); });
}

HeatCell cell_of(const VerdictRow& verdict, const Context& context) {
  return {.verdict = verdict.verdict,
          .ratio = ratio_of(verdict),
          // Only the second stage, on fresh pairs, calls a series changed.
          .is_confirmed = is_change(verdict.verdict),
          .link = address_of(context.links.series, verdict.series),
          .threshold = threshold_of(verdict, context)};
}

double largest_of(const HeatRow& row) {
  double largest = 0;
  for (const auto& cell : row.cells) largest = std::max(largest, size_of(cell.ratio.value_or(0)));
  return largest;
}

void sort_rows(std::vector<HeatRow>& rows, HeatOrder order) {
  if (order == HeatOrder::effect) std::ranges::stable_sort(rows, std::greater{}, largest_of);
  if (order == HeatOrder::domain) std::ranges::stable_sort(rows, {}, &HeatRow::domain);
}

using Verdicts = std::vector<const VerdictRow*>;

/// Those of one metric, by workload and variant; of operators, where nothing else was measured: they
/// count in no mean of workloads.
Verdicts sorted_on(Metric metric, const std::vector<VerdictRow>& rows) {
  Verdicts verdicts;
  for (const auto& row : rows) {
    if (row.series.metric == metric) verdicts.push_back(&row);
  }
  const auto is_operators = [](const auto* row) { return is_of_operator(row->series.benchmark); };
  if (!std::ranges::all_of(verdicts, is_operators)) std::erase_if(verdicts, is_operators);
  std::ranges::sort(verdicts, {}, [](const auto* row) {
    const auto& benchmark = row->series.benchmark;
    return std::tie(benchmark.workload, benchmark.variant, benchmark.configuration);
  });
  return verdicts;
}

}  // namespace

Result<drawing::ForestPlot> forest_of(const Context& context,
                                      const storage::ComparisonRow& comparison,
                                      std::optional<Metric> metric) {
  TW_TRY(const auto verdicts, storage::verdicts_of(context.database, comparison.id));
  TW_TRY(const auto names, side_names(context, comparison));
  drawing::ForestPlot plot{.title = names.candidate + " against " + names.baseline,
                           .metric = metric,
                           .threshold = context.threshold,
                           .confidence = comparison.confidence.value_or(context.confidence)};
  for (const auto& row : verdicts) {
    const bool is_wanted = metric ? row.series.metric == *metric : is_change(row.verdict);
    if (is_wanted && row.ratio > 0) plot.rows.push_back(forest_row(row, row.verdict, context));
  }
  sort_by_size(plot.rows);
  return plot;
}

Result<drawing::ForestPlot> forest_of(const Context& context,
                                      const storage::IncidentRow& incident) {
  TW_TRY(const auto comparison,
         storage::ComparisonStore(context.database).get(incident.comparison));
  drawing::ForestPlot plot{.title = incident.title,
                           .threshold = context.threshold,
                           .confidence = comparison.confidence.value_or(context.confidence)};
  for (const auto& row : incident.series) {
    if (row.ratio > 0) plot.rows.push_back(forest_row(row, Verdict::regressed, context));
  }
  sort_by_size(plot.rows);
  return plot;
}

std::string row_name(const Benchmark& benchmark) {
  if (benchmark.variant == Variant{}) return benchmark.workload;
  return benchmark.workload + " " + to_string(benchmark.variant);
}

Result<drawing::HeatMap> heat_map_of(const Context& context,
                                     const storage::ComparisonRow& comparison,
                                     const std::vector<VerdictRow>& rows, Metric metric,
                                     const Domains& domains, HeatOrder order) {
  const auto verdicts = sorted_on(metric, rows);
  TW_TRY(const auto names, side_names(context, comparison));
  std::set<Configuration> present;
  for (const auto* row : verdicts) present.insert(row->series.benchmark.configuration);
  drawing::HeatMap map{.title = names.candidate + " against " + names.baseline,
                       .metric = metric,
                       .is_by_domain = order == HeatOrder::domain,
                       .threshold = context.threshold};
  for (const auto configuration : present) map.configurations.push_back(to_string(configuration));
  for (const auto* verdict : verdicts) {
    const auto& benchmark = verdict->series.benchmark;
    const auto name = row_name(benchmark);
    if (map.rows.empty() || map.rows.back().workload != name) {
      const auto domain = domains.find(benchmark.workload);
      map.rows.push_back({.workload = name,
                          .domain = domain == domains.end() ? "" : domain->second,
                          .cells = std::vector<HeatCell>(present.size())});
    }
    const auto column = std::distance(present.begin(), present.find(benchmark.configuration));
    map.rows.back().cells[static_cast<std::size_t>(column)] = cell_of(*verdict, context);
  }
  sort_rows(map.rows, order);
  return map;
}

Result<Sparklines> sparklines_of(const Context& context, storage::Id comparison, Metric metric,
                                 int count, const storage::LevelFilter& filter) {
  storage::EvidenceReader reader(context.database);
  Sparklines all;
  TW_TRY(all.comparisons, reader.judged_nightlies(comparison, count));
  TW_TRY(const auto rows, storage::verdicts_of(context.database, comparison, metric));
  std::map<Benchmark, std::size_t> places;
  for (const auto* row : sorted_on(metric, rows)) {
    places.emplace(row->series.benchmark, all.lines.size());
    all.lines.push_back({.series = row->series,
                         .values = std::vector<std::optional<double>>(all.comparisons.size()),
                         .verdict = row->verdict,
                         .threshold = threshold_of(*row, context)});
  }
  if (all.comparisons.empty()) return all;
  TW_TRY(const auto levels,
         reader.levels_between(all.comparisons.front(), all.comparisons.back(), metric, filter));
  for (const auto& level : levels) {
    const auto line = places.find(level.benchmark);
    const auto place = std::ranges::lower_bound(all.comparisons, level.comparison);
    if (line == places.end()) continue;
    const auto column = std::distance(all.comparisons.begin(), place);
    all.lines[line->second].values[static_cast<std::size_t>(column)] = level.candidate_value;
  }
  return all;
}

drawing::SmallMultiples small_multiples_of(const Context& context, const Sparklines& sparklines,
                                           Configuration configuration,
                                           const drawing::HeatMap& map) {
  drawing::SmallMultiples multiples{.title = to_string(configuration) + ": the past of each model",
                                    .metric = map.metric,
                                    .threshold = context.threshold};
  std::map<std::string, const Sparklines::Line*> lines;
  for (const auto& line : sparklines.lines) {
    const auto& benchmark = line.series.benchmark;
    if (benchmark.configuration == configuration) lines[row_name(benchmark)] = &line;
  }
  for (const auto& row : map.rows) {
    const auto found = lines.find(row.workload);
    if (found == lines.end()) continue;
    const auto& line = *found->second;
    multiples.all.push_back({.label = row.workload,
                             .values = line.values,
                             .verdict = line.verdict,
                             .link = address_of(context.links.series, line.series),
                             .threshold = line.threshold});
  }
  return multiples;
}

}  // namespace torchwatch::evidence
