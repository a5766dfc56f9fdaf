#pragma once

#include <string>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Accepts an incident's change: closes the incident, comments on its issue who accepted it and
/// why, and reports the change no more. Errors: invalid (no name or no reason), not_found, conflict
/// (it is closed already, or its comparison has not ended). Thread-safe beside the pipeline.
Status accept_incident(comparison::Services&, storage::Id incident, const std::string& by,
                       const std::string& reason);

}  // namespace torchwatch::nightly
