#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/nightly/comparison.hpp"
#include "torchwatch/nightly/workshop.hpp"

namespace torchwatch::nightly {

/// The times of a build measured again, over those of the night before: no code changed between.
struct MachineShift {
  Device device = Device::cpu;
  double ratio = 1;
  double low = 0;
  double high = 0;
  int series = 0;
  bool operator==(const MachineShift&) const = default;
};

/// What a nightly has to say beside its verdicts.
struct NightSummary {
  std::vector<MachineShift> machine_shifts;
  std::vector<std::string> machine_changes;  ///< "cpu_governor: performance -> powersave"
  std::vector<Cell> left_out;  ///< had figures the night before, are not in this night's plan
  bool operator==(const NightSummary&) const = default;
};

/// From what was measured this night and the night that had its baseline as candidate.
Result<NightSummary> summarise(Workshop&, const storage::NightRow&, const Plan&,
                               const std::vector<Finding>&);

/// Each thing to say in a sentence.
std::vector<std::string> in_sentences(const NightSummary&);

std::string to_json(const NightSummary&);
/// Of an empty text: nothing to say. Errors: corrupt.
Result<NightSummary> parse_summary(std::string_view json);

}  // namespace torchwatch::nightly
