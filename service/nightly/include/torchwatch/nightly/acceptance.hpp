#pragma once

#include <string>

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Takes an incident's change as it is: the incident is closed and its issue told who and why, and
/// from the build that brought it on nobody is told of it again. Errors: invalid (nobody, or no
/// reason), not_found, conflict (it is closed already, or its night is still worked on).
Status accept_incident(Workshop&, storage::Id incident, const std::string& by,
                       const std::string& reason);

}  // namespace torchwatch::nightly
