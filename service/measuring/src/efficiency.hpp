#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <vector>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/measurement/measurement.hpp"

namespace torchwatch::measuring {

/// How much of the machine an iteration uses. The peak is that of the fastest matrix product in the
/// benchmark's precision and threads, measured beside it.
struct Efficiency {
  Benchmark benchmark;
  double flops_per_iteration = 0;
  double flops_per_second = 0;
  double peak_flops_per_second = 0;
  double spread = 0;  ///< of the times, relative

  double share_of_peak() const { return flops_per_second / peak_flops_per_second; }
};

/// For the benchmarks of `figures` that have a time. Errors: those of the kits and of
/// Executor::run; unavailable where a run gives no figure, with its reason.
Result<std::vector<Efficiency>> efficiency_of(
    comparison::Services&, const storage::BuildRow&,
    const std::vector<measurement::MeasuredFigure>& figures, std::stop_token stop);

void print_efficiency(const commands::Invocation&, const std::vector<Efficiency>&);
nlohmann::json efficiency_json(const std::vector<Efficiency>&);

}  // namespace torchwatch::measuring
