#pragma once

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Every [detect] creep_every nightlies: opens comparisons of the nightly's candidate with the
/// build of creep_span nightlies before, both measured again, so that changes too small for one
/// night add up. A series with a change that is known since (an open incident, an accepted one) is
/// compared with the build that brought it. Call inside the transaction that ends the nightly.
Status open_creep_comparisons(Workshop&, const storage::NightRow& nightly);

}  // namespace torchwatch::nightly
