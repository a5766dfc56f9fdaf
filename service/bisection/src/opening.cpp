#include "torchwatch/bisection/opening.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/comparison/series_settings.hpp"
#include "torchwatch/detect/memory_verdict.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/newest_build.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::bisection {
namespace {

/// What a pair's spread is taken to be before anything of the series is known: that of process
/// medians on a shared machine (1.3 to 3.7 % were measured), for both sides.
constexpr double kUnknownNoise = 0.04;

/// A series that a comparison has measured.
SearchedSeries judged_series(const storage::VerdictRow& verdict,
                             const comparison::SeriesSettings& rules) {
  auto settings = rules.of(verdict.series);
  // A search that looked for less would find that the ends do not differ.
  if (report::is_exact(report::effect_of(verdict))) settings = detect::settings_of_exact(settings);
  SearchedSeries searched;
  searched.series = verdict.series;
  searched.minimum_effect = minimum_effect(verdict.series, verdict.baseline_value, settings);
  // The two sides scatter more than their pairs, as what disturbs a pair disturbs both of its runs.
  const double pair_spread = verdict.pair_spread > 0
                                 ? verdict.pair_spread
                                 : std::hypot(verdict.baseline_spread, verdict.candidate_spread);
  searched.noise_sd = is_relative(verdict.series.metric)
                          ? std::max(pair_spread, settings.noise_floor)
                          : pair_spread * std::abs(verdict.baseline_value);
  return searched;
}

/// What a pair of a series of which nothing is known is taken to scatter by. Peaks that are sampled
/// and a heap's growth differ between runs of one build: by no more than their floor, mostly.
double unknown_noise(Metric metric, const detect::Settings& settings) {
  if (is_relative(metric)) return kUnknownNoise;
  const bool is_sampled = has_ratio(metric) && !detect::is_counted(metric);
  const bool scatters = is_sampled || metric == Metric::heap_growth;
  return scatters ? static_cast<double>(detect::floor_bytes(metric, settings)) : 0;
}

/// A series of which nothing is known.
SearchedSeries unmeasured_series(const Series& series, detect::Settings settings) {
  if (detect::is_counted(series.metric)) settings = detect::settings_of_exact(settings);
  SearchedSeries searched;
  searched.series = series;
  searched.noise_sd = unknown_noise(series.metric, settings);
  searched.minimum_effect = minimum_effect(series, 0, settings);
  return searched;
}

std::vector<Benchmark> benchmarks_of(const std::vector<SearchedSeries>& all_series) {
  std::vector<Benchmark> benchmarks;
  for (const auto& searched : all_series) {
    if (std::ranges::find(benchmarks, searched.series.benchmark) == benchmarks.end()) {
      benchmarks.push_back(searched.series.benchmark);
    }
  }
  return benchmarks;
}

bool searches_outputs(const std::vector<SearchedSeries>& all_series) {
  return std::ranges::any_of(all_series, [](const SearchedSeries& searched) {
    return searched.series.metric == Metric::output_difference;
  });
}

BisectionSpec spec_between(const config::Config& config, const std::string& good,
                           const std::string& bad) {
  BisectionSpec spec;
  spec.good = good;
  spec.bad = bad;
  spec.cannot_change = config.bisect.cannot_change;
  spec.confidence = config.bisect.confidence;
  spec.builds_max = config.bisect.builds_max;
  spec.runs_max = config.bisect.runs_max;
  spec.verify_by_revert = config.bisect.verify_by_revert;
  return spec;
}

storage::BisectionRow row_of(const BisectionSpec& spec, const platform::Clock& clock) {
  storage::BisectionRow row;
  row.good = spec.good;
  row.bad = spec.bad;
  row.spec_json = to_json(spec);
  row.created_at = clock.wall_now();
  return row;
}

}  // namespace

Status open_bisection(comparison::Services& services, const comparison::Comparison& comparison,
                      const comparison::SeriesSettings& settings,
                      const storage::IncidentRow& incident) {
  const auto& [compared, plan] = comparison;
  // What does not run has no effect to measure; the search is for what got worse.
  if (incident.kind == IncidentKind::lost) return {};
  if (services.history == nullptr || services.commits == nullptr) return {};
  storage::BuildStore builds(services.database);
  TW_TRY(const auto baseline, builds.get(compared.baseline.value_or(0)));
  TW_TRY(const auto candidate, builds.get(compared.candidate));
  if (baseline.trunk_commit.empty() || candidate.trunk_commit.empty()) return {};

  auto spec = spec_between(services.config, baseline.trunk_commit, candidate.trunk_commit);
  spec.base = baseline.id;
  TW_TRY(const auto verdicts, storage::verdicts_of(services.database, compared.id));
  for (const auto& verdict : verdicts) {
    const bool is_meant = std::ranges::any_of(
        incident.series, [&](const auto& row) { return row.series == verdict.series; });
    if (is_meant) spec.series.push_back(judged_series(verdict, settings));
  }
  spec.plan = plan;
  spec.plan.benchmarks = benchmarks_of(spec.series);
  spec.plan.outputs = searches_outputs(spec.series);

  auto row = row_of(spec, services.clock);
  row.incident = incident.id;
  TW_TRY(const auto opened, storage::BisectionStore(services.database).open(row));
  return storage::IncidentStore(services.database).attach_bisection(incident.id, opened.id);
}

Result<BisectionSpec> requested_spec(comparison::Services& services, const std::string& good,
                                     const std::string& bad) {
  TW_TRY_VOID(services.history->range(good, bad));
  auto spec = spec_between(services.config, good, bad);
  TW_TRY(const auto base, report::newest_build(services.database));
  if (base) spec.base = base->id;
  return spec;
}

Result<storage::BisectionRow> open_requested_bisection(comparison::Services& services,
                                                       BisectionSpec spec,
                                                       const std::vector<Series>& all_series,
                                                       std::optional<Preset> preset) {
  const auto settings = comparison::series_settings(services.config, comparison::Rule{});
  for (const auto& series : all_series) {
    spec.series.push_back(unmeasured_series(series, settings.of(series)));
  }
  spec.plan = comparison::make_plan(services.config, {}, {});
  spec.plan.preset = preset.value_or(spec.plan.preset);
  spec.plan.benchmarks = benchmarks_of(spec.series);
  spec.plan.outputs = searches_outputs(spec.series);
  const auto row = row_of(spec, services.clock);

  storage::BisectionStore store(services.database);
  TW_TRY(const auto interrupted, store.unfinished());
  for (const auto& open : interrupted) {
    if (open.incident || open.spec_json != row.spec_json) continue;
    services.progress.log("carrying on with bisection " + std::to_string(open.id) +
                          ", which was interrupted");
    return open;
  }
  TW_TRY(const auto opened, store.open(row));
  if (!spec.series.empty()) return opened;
  BisectionResult nothing;
  nothing.outcome = BisectionOutcome::did_not_reproduce;
  nothing.reason = "no series of the suite got worse between the ends";
  TW_TRY_VOID(store.end(opened, to_json(nothing), row.created_at));
  return store.get(opened.id);
}

}  // namespace torchwatch::bisection
