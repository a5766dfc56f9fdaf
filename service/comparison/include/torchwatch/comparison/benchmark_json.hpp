#pragma once

#include <nlohmann/json.hpp>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::comparison {

// Benchmarks and series inside stored JSON. The readers throw json::exception for a missing member,
// which their callers catch and name.

nlohmann::json benchmark_to_json(const Benchmark&);
Result<Benchmark> benchmark_from_json(const nlohmann::json&);
nlohmann::json series_to_json(const Series&);
Result<Series> series_from_json(const nlohmann::json&);

}  // namespace torchwatch::comparison
