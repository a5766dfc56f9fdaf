#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

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
Result<std::vector<BatchChoice>> choose_batches(Services&, storage::Id build, int runs,
                                                std::stop_token stop);

/// Batch sizes of inference by "workload device", for [suite] inference_batches.
using BatchTable = std::map<std::string, int>;

/// Returns {"preset": "small", "batches": {"resnet18 cpu": 16}}. Benchmarks that keep the preset's
/// batch are left out.
std::string to_json(Preset, const std::vector<BatchChoice>&);
/// Reads a table. Errors: invalid, naming what is wrong: its form, a batch size, another preset.
Result<BatchTable> parse_batch_table(std::string_view json, Preset);

/// Sets the batch of an inference benchmark that has an entry in the table and no batch of its own.
void apply(const BatchTable&, Benchmark&);

}  // namespace torchwatch::comparison
