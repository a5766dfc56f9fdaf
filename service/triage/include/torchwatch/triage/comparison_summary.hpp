#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::triage {

/// The times of the baseline over its times in the nightly before, for one device. The build is the
/// same, so the machine changed.
struct MachineShift {
  Device device = Device::cpu;
  double ratio = 1;
  double low = 0;
  double high = 0;
  int series = 0;
  bool operator==(const MachineShift&) const = default;
};

/// What is to be said of a comparison as a whole: what changed since the nightly before other than
/// the builds, and how it was measured.
struct ComparisonSummary {
  std::vector<MachineShift> machine_shifts;
  std::vector<std::string> machine_changes;  ///< "cpu_governor: performance -> powersave"
  /// Benchmarks with values in the nightly before that are not in this one's plan.
  std::vector<Benchmark> left_out;
  bool is_unconfined = false;  ///< its runs had no sandbox
  bool operator==(const ComparisonSummary&) const = default;
};

/// The nightly whose candidate is the baseline of another.
struct NightlyBefore {
  storage::Id comparison = 0;
  std::vector<storage::VerdictRow> verdicts;
};

/// Returns nothing for the oldest nightly and for other purposes. Errors: of storage.
Result<std::optional<NightlyBefore>> nightly_before(comparison::Services&,
                                                    const storage::ComparisonRow&);

/// Compares a nightly with the nightly before it, by the settings of its own series. Errors: of
/// storage.
Result<ComparisonSummary> summarise(comparison::Services&, const comparison::Comparison&,
                                    const NightlyBefore&,
                                    const std::vector<comparison::JudgedSeries>&,
                                    const detect::Settings&);

/// Returns whether a run of the comparison had no sandbox. Errors: of storage.
Result<bool> is_unconfined(comparison::Services&, storage::Id comparison);

/// Returns a sentence for each of them.
std::vector<std::string> in_sentences(const ComparisonSummary&);

/// Returns the summary as stored JSON; an empty summary is an empty text.
std::string to_json(const ComparisonSummary&);
/// Reads a stored summary. Errors: corrupt.
Result<ComparisonSummary> parse_summary(std::string_view json);

}  // namespace torchwatch::triage
