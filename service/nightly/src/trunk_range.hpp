#pragma once

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Finds how many commits between the builds of a comparison of two nightlies can matter, as they
/// can change the library, and stores it; does nothing for other builds, where it is stored, and
/// without [source]. A range that cannot be read ends nothing: the progress names the reason. Takes
/// some milliseconds a commit, of which there may be 1,000. Errors: of storage.
Status note_trunk_range(comparison::Services&, storage::Id comparison,
                        const storage::BuildRow& baseline, const storage::BuildRow& candidate);

}  // namespace torchwatch::nightly
