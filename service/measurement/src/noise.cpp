#include "torchwatch/measurement/noise.hpp"

#include <chrono>

#include "build_measurer.hpp"
#include "torchwatch/comparison/series_settings.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::measurement {
namespace {

NoiseFigure without_figures(const Benchmark& benchmark, const storage::RunRow& run) {
  NoiseFigure figure;
  figure.benchmark = benchmark;
  figure.status = run.status;
  figure.reason = run.reason;
  return figure;
}

/// The runs are in the order of a block A B B A of one and the same build.
NoiseFigure figure_of(const Benchmark& benchmark, const std::vector<comparison::MachineRun>& runs,
                      const detect::Settings& settings) {
  std::vector<double> times;
  for (const auto& run : runs) {
    if (run.row.status != RunStatus::ok) return without_figures(benchmark, run.row);
    times.push_back(static_cast<double>(run.row.values.at(Metric::time)));
  }
  const auto pairs = detect::abba_log_ratios(times);
  NoiseFigure figure;
  figure.benchmark = benchmark;
  figure.value_ns = median(times);
  figure.pair_sd = detect::estimate(pairs, settings.confidence).pair_sd;
  figure.threshold = settings.threshold;
  figure.floor = detect::estimate_minimum_detectable_effect(pairs, settings);
  return figure;
}

}  // namespace

Result<std::vector<NoiseFigure>> measure_noise(comparison::Services& services, storage::Id build,
                                               int pairs, std::stop_token stop) {
  TW_TRY(auto measurer, BuildMeasurer::open(services, build, stop));
  if (services.config.measure.place_libraries) measurer.place_libraries();
  const auto& benchmarks = measurer.plan().benchmarks;
  const int runs = 2 * pairs;
  measurer.expect(static_cast<int>(benchmarks.size()) * runs);
  // As a nightly of this plan would judge it.
  const auto settings = comparison::series_settings(
      services.config, {.budget_series = comparison::series_count(measurer.plan())});
  std::vector<NoiseFigure> figures;
  for (const auto& benchmark : benchmarks) {
    if (!comparison::has_pass(measurer.plan(), benchmark, Pass::timing)) continue;
    const auto begun = services.clock.monotonic_now();
    TW_TRY(const auto made, measurer.run_pairs(benchmark, pairs, stop));
    const std::chrono::duration<double> took = services.clock.monotonic_now() - begun;
    figures.push_back(figure_of(benchmark, made, settings.of({benchmark, Metric::time})));
    figures.back().run_seconds = took.count() / runs;
  }
  TW_TRY_VOID(measurer.close());
  return figures;
}

}  // namespace torchwatch::measurement
