#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

struct BatchPoint {
  int batch = 0;
  double items_per_second = 0;
};

/// The batch size at which a cell's inference reaches its throughput.
struct BatchChoice {
  Cell cell;
  int batch = 0;  ///< 0: the preset's, where no other can be built
  std::vector<BatchPoint> tried;
  std::string ended;  ///< why no larger one was tried
};

/// Doubles the batch of every inference cell of the configured suite, from 1 on, until the
/// throughput grows by less than a twentieth, as the TorchBench paper chose its batch sizes
/// (section 3.1; there by the GPU's utilisation). Each point is the median of `runs` fresh
/// processes, stored as `measure_alone`'s. Errors: of storage, cancelled, unavailable.
Result<std::vector<BatchChoice>> choose_batches(Workshop&, storage::Id build, int runs,
                                                std::stop_token stop);

/// Batch sizes of inference by "workload device", as [suite] inference_batches names them.
using BatchTable = std::map<std::string, int>;

/// {"preset": "small", "batches": {"resnet18 cpu": 16}}. What was chosen as the preset's is left
/// out.
std::string to_json(Preset, const std::vector<BatchChoice>&);
/// Errors: invalid, with what is wrong in the text, or where it was made for another preset.
Result<BatchTable> parse_batch_table(std::string_view json, Preset);

/// The table's entry of a cell, where it has one and the cell asks for no batch of its own.
void apply(const BatchTable&, Cell&);

}  // namespace torchwatch::nightly
