#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::web {

/// {"workload", "configuration", "variant", "metric"}
nlohmann::json json_of(const Target&);

/// A row's `..._json`: the value, or null where there is none (or it is damaged).
nlohmann::json embedded(const std::string& text);

/// ISO 8601 in UTC; null for 0.
nlohmann::json time_of(storage::WallMillis);

/// A string; null for an empty one.
nlohmann::json text_or_null(const std::string&);

/// Null where there is none (0 or not finite).
nlohmann::json number_or_null(double);

/// [low, high]; null where the interval is not known.
nlohmann::json interval_of(double low, double high);

}  // namespace torchwatch::web
