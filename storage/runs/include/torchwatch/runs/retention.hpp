#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Thins the samples of the comparison that ended longest ago, before `ended_before`: those of
/// benchmarks whose every verdict is `unchanged` are replaced by their number, median, spread and
/// digest. What workloads computed goes, as all is compared with it. Samples of incidents,
/// bisections, self-tests, rechecks and measurements stay, and those that do not match their
/// digest. Each comparison is thinned once, in one transaction. Returns whether there was one.
Result<bool> thin_oldest_comparison(Database&, WallMillis ended_before);

/// Removes what processes printed that ended before then. Returns the number of attempts.
Result<int> remove_outputs(Database&, WallMillis ended_before);

/// What is kept of samples that were thinned.
struct ThinnedSamples {
  std::string kind;
  std::int64_t count = 0;
  std::int64_t median = 0;
  std::int64_t spread = 0;  ///< the interquartile range
  std::string digest;       ///< SHA-256 of the samples as they were
};
/// Returns what is kept of a run's samples; empty where they are whole.
Result<std::vector<ThinnedSamples>> thinned_samples_of(Database&, Id attempt);

}  // namespace torchwatch::storage
