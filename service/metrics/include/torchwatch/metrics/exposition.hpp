#pragma once

#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/health/report.hpp"

namespace torchwatch::metrics {

/// Returns the service's figures in Prometheus' text format, version 0.0.4: what is open, alarms,
/// the time of nodes, and whether the service is well, as `now` says. Errors: those of storage.
/// Thread-safe.
Result<std::string> exposition(storage::Database&, const health::Report& now);

}  // namespace torchwatch::metrics
