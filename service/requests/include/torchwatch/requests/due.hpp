#pragma once

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"

namespace torchwatch::requests {

/// Returns whether a request for what is due would find work: a comparison or a search that has not
/// ended, or a nightly in the channel's folder without its comparison. True where only the network
/// can say. Errors: of storage, of the folder.
Result<bool> is_anything_due(const config::Config&, storage::Database&);

}  // namespace torchwatch::requests
