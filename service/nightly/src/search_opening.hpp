#pragma once

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Opens the search for an incident's culprit where there are commits to search; otherwise does
/// nothing, and the incident is reported without one. Call inside the verdict's transaction.
Status open_search(Workshop&, const storage::NightRow&, const storage::IncidentRow&);

}  // namespace torchwatch::nightly
