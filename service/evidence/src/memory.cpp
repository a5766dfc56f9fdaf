#include <algorithm>

#include "drawn.hpp"
#include "measured_runs.hpp"
#include "torchwatch/evidence/series.hpp"

namespace torchwatch::evidence {
namespace {

using storage::RunDetail;

/// The levels of one build.
struct SideLevels {
  std::vector<double> bytes = {};
  std::optional<double> slope = {};
};

bool is_of_heap(Metric metric) {
  return metric == Metric::heap_growth;
}

/// The levels of the run whose growth is the middle one.
Result<SideLevels> levels_of(const Context& context, std::vector<RunDetail> runs, bool of_heap) {
  const auto growth = of_heap ? Metric::heap_growth : Metric::leak_growth;
  std::erase_if(runs, [&](const RunDetail& run) { return !run.values.contains(growth); });
  SideLevels levels;
  if (runs.empty()) return levels;
  std::ranges::stable_sort(runs, {}, [&](const RunDetail& run) { return run.values.at(growth); });
  const auto& middle = runs[(runs.size() - 1) / 2];
  levels.slope = static_cast<double>(middle.values.at(growth));
  TW_TRY(const auto sets, storage::RunReader(context.database).samples_of(middle.attempt));
  const auto set =
      std::ranges::find(sets, of_heap ? "heap_bytes" : "live_bytes", &storage::SampleSet::kind);
  if (set != sets.end()) levels.bytes.assign(set->samples.begin(), set->samples.end());
  return levels;
}

}  // namespace

Result<std::optional<drawing::MemoryLevels>> memory_levels_of(
    const Context& context, const storage::ComparisonRow& comparison, const Series& series) {
  TW_TRY(const auto runs, measured_runs(context, {storage::OwnerKind::comparison, comparison.id},
                                        series.benchmark, Pass::memory));
  std::vector<RunDetail> baseline;
  std::vector<RunDetail> candidate;
  for (const auto& run : runs) {
    const auto place = comparison::parse_slot(run.slot);
    const bool is_candidate =
        place ? place->side == comparison::Side::candidate : run.build == comparison.candidate;
    (is_candidate ? candidate : baseline).push_back(run);
  }
  const bool of_heap = is_of_heap(series.metric);
  TW_TRY(auto before, levels_of(context, std::move(baseline), of_heap));
  TW_TRY(auto after, levels_of(context, std::move(candidate), of_heap));
  if (before.bytes.empty() && after.bytes.empty()) return std::nullopt;
  TW_TRY(const auto names, side_names(context, comparison));
  return drawing::MemoryLevels{.title = to_string(series),
                               .baseline = names.baseline,
                               .candidate = names.candidate,
                               .baseline_bytes = std::move(before.bytes),
                               .candidate_bytes = std::move(after.bytes),
                               .baseline_slope = before.slope,
                               .candidate_slope = after.slope};
}

}  // namespace torchwatch::evidence
