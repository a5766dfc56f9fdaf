#include <algorithm>
#include <iterator>

#include "drawn.hpp"
#include "measured_runs.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::evidence {
namespace {

using storage::RunDetail;
using storage::SampleSet;

/// A run without samples yet.
SeriesRun placed(const RunDetail& run, const storage::ComparisonRow& comparison) {
  SeriesRun placed{.run = run.attempt};
  placed.side =
      run.build == comparison.candidate ? comparison::Side::candidate : comparison::Side::baseline;
  const auto place = comparison::parse_slot(run.slot);
  if (!place) return placed;
  placed.side = place->side;
  placed.stage = place->stage;
  return placed;
}

void add_samples(SeriesRun& run, const std::vector<SampleSet>& sets, std::string_view kind) {
  const auto set = std::ranges::find(sets, kind, &SampleSet::kind);
  if (set == sets.end()) return;
  run.is_thinned = set->is_thinned;
  run.median = static_cast<double>(set->median);
  run.samples.assign(set->samples.begin(), set->samples.end());
}

void add_beside(SeriesRun& run, const RunDetail& detail, Metric shown) {
  for (const auto metric : metrics_beside(shown)) {
    const auto value = detail.values.find(metric);
    if (value != detail.values.end()) run.beside.insert(*value);
  }
}

drawing::StripRun drawn(const SeriesRun& run) {
  return {.side = run.side == comparison::Side::candidate ? drawing::Side::candidate
                                                          : drawing::Side::baseline,
          .is_confirmation = run.stage == comparison::Stage::confirm,
          .samples = run.samples,
          .median = run.median};
}

}  // namespace

std::string_view kind_of(Metric metric) {
  if (metric == Metric::time) return "wall_ns";
  return metric == Metric::device_time ? "device_ns" : "";
}

Result<std::vector<RunDetail>> measured_runs(const Context& context, storage::Owner owner,
                                             const Benchmark& benchmark, Pass pass) {
  constexpr int kRunsMax = 10'000;  // more than a plan has of one benchmark
  const storage::RunFilter filter{.workload = benchmark.workload,
                                  .configuration = to_string(benchmark.configuration),
                                  .variant = to_string(benchmark.variant),
                                  .pass = std::string(to_string(pass)),
                                  .state = std::string(to_string(storage::AttemptState::done))};
  TW_TRY(auto runs, storage::RunReader(context.database).list(owner, filter, kRunsMax, INT64_MAX));
  std::erase_if(runs, [](const RunDetail& run) { return run.status != RunStatus::ok; });
  std::ranges::reverse(runs);
  return runs;
}

Result<std::vector<SeriesRun>> runs_of(const Context& context,
                                       const storage::ComparisonRow& comparison,
                                       const Series& series) {
  TW_TRY(const auto measured,
         measured_runs(context, {storage::OwnerKind::comparison, comparison.id}, series.benchmark,
                       pass_of(series.metric)));
  const auto kind = kind_of(series.metric);
  storage::RunReader reader(context.database);
  std::vector<SeriesRun> runs;
  for (const auto& run : measured) {
    const auto value = run.values.find(series.metric);
    if (value == run.values.end()) continue;
    auto& added = runs.emplace_back(placed(run, comparison));
    added.median = static_cast<double>(value->second);
    add_beside(added, run, series.metric);
    if (kind.empty()) {
      added.samples = {added.median};
      continue;
    }
    TW_TRY(const auto sets, reader.samples_of(run.attempt));
    add_samples(added, sets, kind);
  }
  return runs;
}

Result<storage::ValuesOfRuns> beside(storage::Database& database, Metric shown,
                                     const std::vector<storage::Id>& runs) {
  TW_TRY(auto values, storage::RunReader(database).values_of(runs));
  const auto wanted = metrics_beside(shown);
  std::erase_if(values, [&](const auto& each) {
    return std::ranges::find(wanted, each.first) == wanted.end();
  });
  return values;
}

Result<Strips> strips_of(const Context& context, const storage::ComparisonRow& comparison,
                         const Series& series) {
  TW_TRY(const auto names, side_names(context, comparison));
  TW_TRY(const auto runs, runs_of(context, comparison, series));
  TW_TRY(const auto verdict, storage::verdict_on(context.database, comparison.id, series));
  Strips drawn_strips;
  auto& strips = drawn_strips.strips;
  strips.title = to_string(series);
  strips.metric = series.metric;
  strips.baseline = names.baseline;
  strips.candidate = names.candidate;
  std::ranges::transform(runs, std::back_inserter(strips.runs), drawn);
  strips.threshold = context.threshold;
  strips.confidence = comparison.confidence.value_or(context.confidence);
  drawn_strips.thinned =
      static_cast<std::size_t>(std::ranges::count_if(runs, &SeriesRun::is_thinned));
  if (!verdict) return drawn_strips;
  strips.ratio = ratio_of(*verdict);
  strips.interval = interval_of(*verdict);
  strips.threshold = threshold_of(*verdict, context);
  return drawn_strips;
}

}  // namespace torchwatch::evidence
