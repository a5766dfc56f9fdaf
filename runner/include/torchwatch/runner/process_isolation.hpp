#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "torchwatch/protocol/request.hpp"

namespace torchwatch::runner {

/// Shields this process from disturbances as far as it may, and limits it: heap thresholds,
/// priority (within its session as well as overall, as Linux's autogroups scope a plain nice to the
/// session), one core, no core dumps, the memory limit. Returns what was done as facts for the
/// environment, so that runs isolated differently are not compared. Call once, before anything
/// large is allocated.
std::map<std::string, std::string> isolate_process(const protocol::Request& request);

/// The limit of this process's own memory in bytes; empty if it has none.
std::optional<std::int64_t> data_limit();

}  // namespace torchwatch::runner
