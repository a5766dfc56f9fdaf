#pragma once

#include "torchwatch/channel/channel.hpp"
#include "torchwatch/storage/rows.hpp"

// What the channel says now of a file, against what is known of it.

namespace torchwatch::nightly {

/// Returns whether the build was rejected for the same reason before: each poll looks at it again,
/// and finds nothing new. `manner`: how it is fetched, see Channel::manner.
bool is_known(const storage::BuildRow& row, const channel::Offer& offer, const std::string& manner,
              const Error& error);

/// Returns whether the channel has another file than the one that was fetched or rejected.
bool is_replaced(const storage::BuildRow& row, const channel::Offer& offer);

/// Returns whether the file was rejected, the channel says that it is the same still, and it would
/// be fetched in the same manner.
bool stays_rejected(const storage::BuildRow& row, const channel::Offer& offer,
                    const std::string& manner);

}  // namespace torchwatch::nightly
