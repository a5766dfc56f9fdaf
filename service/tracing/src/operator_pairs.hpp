#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::tracing {

/// Makes the interleaved pairs of one comparison's builds in which operators are watched, in the
/// slots of service/operators. Not thread-safe.
class OperatorPairs {
 public:
  /// `past`: the comparison's runs so far. `longest`: how long all that is made here may take;
  /// none: as long as it needs.
  OperatorPairs(comparison::Services&, const comparison::Plan&, const comparison::ComparedBuilds&,
                comparison::RunRecorder&, const std::vector<comparison::MachineRun>& past,
                std::optional<std::chrono::minutes> longest = std::nullopt);

  /// Makes those of a benchmark's first pairs that it lacks. One that fails ends them, and so does
  /// the time when it is over; those that were made count, and the reason is logged. Errors: those
  /// of RunRecorder::run_block.
  Status make(const Benchmark&, int pairs, std::stop_token stop);

 private:
  bool has(const Benchmark&, int number) const;
  std::vector<comparison::RunSlot> slots_of(const Benchmark&, int number) const;

  comparison::Services& services_;
  const comparison::Plan& plan_;
  const comparison::ComparedBuilds& builds_;
  comparison::RunRecorder& recorder_;
  std::map<std::string, RunStatus> ended_;  ///< by slot
  std::optional<std::chrono::minutes> longest_;
  std::chrono::nanoseconds began_;
};

}  // namespace torchwatch::tracing
