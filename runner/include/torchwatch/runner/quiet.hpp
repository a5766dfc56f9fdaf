#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "torchwatch/protocol/request.hpp"

namespace torchwatch::runner {

/// Takes from this process what disturbs a measurement, as far as it may, and puts limits on it:
/// heap thresholds (timing pass only), priority within its session as well as over all (a plain
/// nice is scoped to the session by Linux's autogroups), one core, no core dumps, the memory limit.
/// Returns what was done as facts for the environment, so that runs made quiet differently are not
/// compared. Once, before anything large is allocated.
std::map<std::string, std::string> make_quiet(const protocol::Request& request);

/// Bytes of its own memory that this process may have; none: as many as there are.
std::optional<std::int64_t> data_limit();

}  // namespace torchwatch::runner
