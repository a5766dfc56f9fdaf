#include "torchwatch/nightly/noise.hpp"

#include <algorithm>
#include <chrono>

#include "robust.hpp"
#include "solo_bench.hpp"
#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/nightly/night.hpp"

namespace torchwatch::nightly {
namespace {

NoiseFigure without_figures(const Cell& cell, const storage::RunRow& run) {
  NoiseFigure figure;
  figure.cell = cell;
  figure.status = run.status;
  figure.reason = run.reason;
  return figure;
}

/// In the order of a block A B B A, whose sides are alike here.
NoiseFigure figure_of(const Cell& cell, const std::vector<MachineRun>& runs,
                      const detect::Settings& settings) {
  std::vector<double> times;
  for (const auto& run : runs) {
    if (run.row.status != RunStatus::ok) return without_figures(cell, run.row);
    times.push_back(static_cast<double>(run.row.values.at(Metric::time)));
  }
  const auto pairs = detect::abba_log_ratios(times);
  NoiseFigure figure;
  figure.cell = cell;
  figure.value_ns = median(times);
  figure.pair_sd = detect::estimate(pairs, settings.confidence).pair_sd;
  figure.floor = detect::foretell_floor(pairs, settings);
  return figure;
}

}  // namespace

Result<std::vector<NoiseFigure>> measure_noise(Workshop& workshop, storage::Id build, int pairs,
                                               std::stop_token stop) {
  TW_TRY(auto bench, SoloBench::open(workshop, build, stop));
  if (workshop.config.measure.place_libraries) bench.place_libraries();
  const auto& cells = bench.plan().cells;
  const int runs = 2 * pairs;
  bench.expect(static_cast<int>(cells.size()) * runs);
  const auto settings = series_settings(workshop.config, bench.plan());
  std::vector<NoiseFigure> figures;
  for (const auto& cell : cells) {
    const auto begun = workshop.clock.monotonic_now();
    TW_TRY(const auto made, bench.run_pairs(cell, pairs, stop));
    const std::chrono::duration<double> took = workshop.clock.monotonic_now() - begun;
    figures.push_back(figure_of(cell, made, settings.of({cell, Metric::time})));
    figures.back().run_seconds = took.count() / runs;
  }
  TW_TRY_VOID(bench.close());
  return figures;
}

}  // namespace torchwatch::nightly
