#pragma once

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::filing {

/// Queues the issue that lists the improvements of the month before, once, at the first nightly
/// that is reported in a month; nothing where [github] monthly_digest is off or nothing improved.
/// Call inside the transaction that ends the nightly. Errors: of storage.
Status queue_digest(comparison::Services&, const storage::ComparisonRow& nightly);

}  // namespace torchwatch::filing
