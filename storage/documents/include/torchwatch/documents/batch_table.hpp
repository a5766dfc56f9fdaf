#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::comparison {

/// Batch sizes of inference by "workload device", for [suite] inference_batches.
using BatchTable = std::map<std::string, int>;

/// Returns the name of a benchmark in a table: "resnet18 cpu".
std::string key_in_table(const Benchmark&);

/// Returns {"preset": "small", "batches": {"resnet18 cpu": 16}}.
std::string to_json(Preset, const BatchTable&);
/// Reads a table. Errors: invalid, naming what is wrong: its form, a batch size, another preset.
Result<BatchTable> parse_batch_table(std::string_view json, Preset);

/// Sets the batch of each inference benchmark that has an entry in the table and no batch of its
/// own. Of benchmarks that are equal then, which a variant with that batch makes, the first stays.
void apply(const BatchTable&, std::vector<Benchmark>&);

}  // namespace torchwatch::comparison
