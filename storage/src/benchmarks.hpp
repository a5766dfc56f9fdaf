#pragma once

#include "query.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Returns the id of a benchmark's row, which is inserted if it is new. Call inside a write
/// transaction.
Id benchmark_id(Connection&, const Benchmark&);

/// The columns of table `benchmark` that `take_benchmark` reads.
inline constexpr const char* kBenchmarkColumns =
    "benchmark.workload, benchmark.configuration, benchmark.variant";
Benchmark take_benchmark(Query&);

/// Reads the columns of table `verdict` from `verdict` to `reason`.
void take_judgement(Query&, VerdictRow&);

}  // namespace torchwatch::storage
