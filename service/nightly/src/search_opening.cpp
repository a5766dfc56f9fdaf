#include "search_opening.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

SearchedTarget searched(const storage::VerdictRow& verdict, const SeriesSettings& series) {
  const auto settings = series.of(verdict.target);
  SearchedTarget target;
  target.target = verdict.target;
  target.minimum_effect = minimum_effect(verdict.target.metric, verdict.baseline_value, settings);
  const double pair_spread = std::hypot(verdict.baseline_spread, verdict.candidate_spread);
  target.noise_sd = is_relative(verdict.target.metric)
                        ? std::max(pair_spread, settings.noise_floor)
                        : pair_spread * std::abs(verdict.baseline_value);
  return target;
}

Plan plan_of(const Plan& night, const std::vector<SearchedTarget>& targets) {
  Plan plan = night;
  plan.cells.clear();
  for (const auto& searched : targets) {
    if (std::ranges::find(plan.cells, searched.target.cell) == plan.cells.end()) {
      plan.cells.push_back(searched.target.cell);
    }
  }
  return plan;
}

}  // namespace

Status open_search(Workshop& workshop, const storage::NightRow& night,
                   const storage::IncidentRow& incident) {
  // What does not run has no effect to measure; the search is for what got worse.
  if (incident.kind == IncidentKind::lost) return {};
  if (workshop.history == nullptr || workshop.commits == nullptr) return {};
  storage::BuildStore builds(workshop.database);
  TW_TRY(const auto baseline, builds.get(night.baseline.value_or(0)));
  TW_TRY(const auto candidate, builds.get(night.candidate));
  if (baseline.trunk_commit.empty() || candidate.trunk_commit.empty()) return {};

  TW_TRY(const auto plan, parse_plan(night.plan_json));
  const auto settings = series_settings(workshop.config, plan);
  SearchOrder order;
  order.good = baseline.trunk_commit;
  order.bad = candidate.trunk_commit;
  order.base_folder = baseline.folder;
  order.cannot_change = workshop.config.bisect.cannot_change;
  order.confidence = workshop.config.bisect.confidence;
  order.builds_max = workshop.config.bisect.builds_max;
  order.runs_max = workshop.config.bisect.runs_max;
  order.verify_by_revert = workshop.config.bisect.verify_by_revert;
  TW_TRY(const auto verdicts, storage::NightStore(workshop.database).verdicts_of(night.id));
  for (const auto& verdict : verdicts) {
    const bool is_meant = std::ranges::any_of(
        incident.targets, [&](const auto& row) { return row.target == verdict.target; });
    if (is_meant) order.targets.push_back(searched(verdict, settings));
  }
  order.plan = plan_of(plan, order.targets);

  storage::BisectionRow row;
  row.incident = incident.id;
  row.good = order.good;
  row.bad = order.bad;
  row.request_json = to_json(order);
  row.created_at = workshop.clock.wall_now();
  TW_TRY(const auto opened, storage::BisectionStore(workshop.database).opened(row));
  return storage::IncidentStore(workshop.database).attached(incident.id, opened.id);
}

}  // namespace torchwatch::nightly
