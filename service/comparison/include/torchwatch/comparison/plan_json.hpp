// nlohmann-json finds these functions by their types, which no tool sees.
// IWYU pragma: always_keep
#pragma once

#include <nlohmann/json.hpp>

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/documents/vocabulary_json.hpp"

// A plan inside stored JSON. The reader throws json::exception, as those of the vocabulary do.

namespace torchwatch::comparison {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, preset, benchmarks, passes, threads, warmup, iterations,
                                   enough_ns, time_limit_ms, memory_limit_bytes, interleave)

}  // namespace torchwatch::comparison
