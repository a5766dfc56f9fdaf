#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/documents/batch_table.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::measurement {

/// The throughput that was measured with one batch size.
struct BatchPoint {
  int batch = 0;
  double items_per_second = 0;
};

/// The batch size from which a benchmark's inference throughput hardly grows.
struct BatchChoice {
  Benchmark benchmark;
  int batch = 0;  ///< 0: that of the preset, where no other can be built
  std::vector<BatchPoint> tried;
  std::string ended;  ///< why no larger batch was tried
};

/// Doubles the batch of every inference benchmark of the configured suite, from 1 on, until the
/// throughput grows by less than a twentieth. The TorchBench paper (section 3.1) chose its batch
/// sizes this way, by the utilisation of the GPU. Each point is the median of `runs` fresh
/// processes, stored like those of `measure_build`. Errors: of storage, cancelled, unavailable.
Result<std::vector<BatchChoice>> choose_batches(comparison::Services&, storage::Id build, int runs,
                                                std::stop_token stop);

/// Returns the table of the chosen sizes. Benchmarks that keep the preset's batch are left out.
comparison::BatchTable table_of(const std::vector<BatchChoice>&);

}  // namespace torchwatch::measurement
