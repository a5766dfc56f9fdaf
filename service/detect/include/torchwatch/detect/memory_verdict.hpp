#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "torchwatch/detect/settings.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::detect {

/// The verdict on one series of the memory pass, or the wish to confirm it.
struct MemoryDecision {
  bool suspect = false;   ///< after screening: confirm with `memory_runs` fresh runs a side
  bool is_exact = false;  ///< all runs of each build state the same bytes, so any change is real
  Verdict verdict = Verdict::inconclusive;
  double ratio = 0;
  double low = 0;  ///< least and greatest candidate / baseline over the runs
  double high = 0;
  std::int64_t baseline_value = 0;  ///< medians
  std::int64_t candidate_value = 0;
  std::string reason;
};

/// Returns the smallest growth of a peak or a leak that counts, in bytes (a slope: bytes per
/// iteration).
std::int64_t floor_bytes(Metric, const Settings&);

/// Returns whether LibTorch's allocators count the metric's bytes, so that equal code gives equal
/// ones. Other peaks are sampled by the kernel or the driver.
bool is_counted(Metric);

/// The values of one series in the runs of both builds.
struct MemoryRuns {
  std::span<const std::int64_t> baseline;
  std::span<const std::int64_t> candidate;
};

/// Judges peak bytes. They regressed when every candidate run exceeds every baseline run by more
/// than the threshold and the metric's floor in bytes. A counted peak of which all runs of each
/// build agree is exact: it regressed from `exact_threshold` and `exact_floor_bytes` on. The ratios
/// are 0 where a baseline run had no peak.
MemoryDecision judge_peak(Metric, const MemoryRuns&, const Settings&);

/// Judges a series by one run of each build where that is enough: a figure that is counted, and
/// outputs, when both are the same; a sampled peak, and a heap's growth, when they lie within half
/// of what counts. Nothing where further runs are needed.
std::optional<MemoryDecision> judge_alike(Metric, std::int64_t baseline, std::int64_t candidate,
                                          const Settings&);

/// Judges a suspected peak by its fresh runs alone. The runs that raised the suspicion only take
/// part in whether it is exact: where they differ from the fresh ones it is not.
MemoryDecision confirm_peak(Metric, const MemoryRuns& screened, const MemoryRuns& fresh,
                            const Settings&);

/// Judges leaks. They regressed when every candidate run leaks more than every baseline run by the
/// metric's floor, and for heap_growth also by a quarter. The ratio is 0: a leak has a size.
MemoryDecision judge_leak(Metric, std::span<const std::int64_t> baseline,
                          std::span<const std::int64_t> candidate, const Settings&);

}  // namespace torchwatch::detect
