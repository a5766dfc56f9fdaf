#pragma once

#include <string>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/tracker/received_store.hpp"
#include "tracker_reader.hpp"

namespace torchwatch::conversation {

/// Reads back what people did to an issue of ours: each event of its list once, however often and
/// by whatever way it is heard of. What `own_login` and programs did is kept, but decides nothing.
/// Returns in a sentence what it came to. Errors: of the reader; unavailable, while the list lacks
/// what was received, or the incident cannot be decided on yet; of storage.
Result<std::string> read_back(comparison::Services&, const TrackerReader&,
                              const std::string& own_login, const storage::ReceivedRow&);

}  // namespace torchwatch::conversation
