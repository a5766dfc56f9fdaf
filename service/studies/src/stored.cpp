#include "torchwatch/studies/stored.hpp"

#include <algorithm>
#include <set>

#include "torchwatch/documents/plan.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::studies {
namespace {

using storage::ComparisonRow;
using storage::ComparisonState;

template <typename T>
bool are_all(const std::vector<T>& asked, const std::set<T>& measured) {
  return asked.empty() || std::set<T>(asked.begin(), asked.end()) == measured;
}

/// A plan that cannot be read answers nothing.
bool is_planned(const ComparisonRow& row, const Wanted& wanted) {
  const auto plan = comparison::parse_plan(row.plan_json);
  if (!plan) return false;
  std::set<std::string> workloads;
  std::set<Configuration> configurations;
  for (const auto& benchmark : plan->benchmarks) {
    workloads.insert(benchmark.workload);
    configurations.insert(benchmark.configuration);
  }
  const auto& asked = wanted.pair.selection;
  const auto& named = asked.workloads.empty() ? wanted.suite : asked.workloads;
  const bool has_metrics = std::ranges::all_of(asked.metrics, [&](Metric metric) {
    return std::ranges::find(plan->passes, pass_of(metric)) != plan->passes.end();
  });
  return has_metrics && plan->preset == asked.preset.value_or(wanted.preset) &&
         are_all(named, workloads) && are_all(asked.configurations, configurations);
}

}  // namespace

Wanted wanted_of(const config::Config& config, const Pair& pair,
                 std::optional<std::set<storage::Id>> builds) {
  return {.pair = pair,
          .preset = config.suite.preset,
          .suite = config.suite.workloads,
          .builds = std::move(builds)};
}

Result<std::vector<StoredStudy>> all_stored(storage::Database& database) {
  TW_TRY(const auto rows, storage::ComparisonStore(database).list(INT32_MAX));
  storage::StudyStore settings(database);
  std::vector<StoredStudy> studies;
  for (const auto& row : rows) {
    if (row.purpose != storage::Purpose::study) continue;
    TW_TRY(auto of_row, settings.find(row.id));
    if (of_row) studies.push_back({.row = row, .settings = *std::move(of_row)});
  }
  return studies;
}

std::optional<ComparisonRow> newest_of(const std::vector<StoredStudy>& studies,
                                       const Wanted& wanted) {
  const auto answers = [&](const StoredStudy& study) {
    const bool is_of_build = !wanted.builds || wanted.builds->contains(study.row.candidate);
    const bool is_far_enough = !wanted.ended || study.row.state == ComparisonState::reported;
    return is_of_build && is_far_enough && study.settings == wanted.pair.settings &&
           is_planned(study.row, wanted);
  };
  const auto found = std::ranges::find_if(studies, answers);
  return found == studies.end() ? std::nullopt : std::optional(found->row);
}

Result<std::optional<ComparisonRow>> ended_before_interruption(comparison::Services& services,
                                                               storage::Id build,
                                                               const StudyFile& study,
                                                               const Pair& pair) {
  TW_TRY(const auto stored, all_stored(services.database));
  const auto newest = [&](const Pair& of) {
    return newest_of(stored, wanted_of(services.config, of, std::set{build}));
  };
  const auto own = newest(pair);
  if (!own || own->state != ComparisonState::reported) return std::nullopt;
  const auto was_interrupted = [&](const Pair& later) {
    const auto other = newest(later);
    return other && !is_end(other->state) && other->id > own->id;
  };
  const auto after = study.pairs.begin() + (&pair - study.pairs.data()) + 1;
  return std::any_of(after, study.pairs.end(), was_interrupted) ? own : std::nullopt;
}

}  // namespace torchwatch::studies
