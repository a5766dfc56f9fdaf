#include "torchwatch/studies/stored.hpp"

#include <algorithm>
#include <set>

#include "torchwatch/documents/plan.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/study_store.hpp"

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
  return plan->preset == asked.preset.value_or(wanted.preset) &&
         are_all(asked.workloads, workloads) && are_all(asked.configurations, configurations);
}

}  // namespace

Result<std::optional<ComparisonRow>> newest_of(storage::Database& database, const Wanted& wanted) {
  TW_TRY(const auto rows, storage::ComparisonStore(database).list(INT32_MAX));
  for (const auto& row : rows) {
    const bool is_of_build = !wanted.builds || wanted.builds->contains(row.candidate);
    const bool is_far_enough = !wanted.ended || row.state == ComparisonState::reported;
    if (row.purpose != storage::Purpose::study || !is_of_build || !is_far_enough) continue;
    TW_TRY(const auto settings, storage::StudyStore(database).find(row.id));
    if (settings == wanted.pair.settings && is_planned(row, wanted)) return row;
  }
  return std::nullopt;
}

Result<std::optional<ComparisonRow>> ended_before_interruption(comparison::Services& services,
                                                               storage::Id build,
                                                               const StudyFile& study,
                                                               const Pair& pair) {
  const auto newest = [&](const Pair& of) {
    return newest_of(
        services.database,
        {.pair = of, .preset = services.config.suite.preset, .builds = std::set{build}});
  };
  TW_TRY(auto own, newest(pair));
  if (!own || own->state != ComparisonState::reported) return std::nullopt;
  for (auto later = &pair + 1; later != study.pairs.data() + study.pairs.size(); ++later) {
    TW_TRY(const auto other, newest(*later));
    const bool was_interrupted = other && !is_end(other->state) && other->id > own->id;
    if (was_interrupted) return own;
  }
  return std::nullopt;
}

}  // namespace torchwatch::studies
