#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

/// A build that was measured in a pass which times nothing, and the one before it.
struct ObservedBuilds {
  std::optional<storage::BuildRow> build = {};
  std::optional<storage::BuildRow> before = {};
};

/// Finds the build before the one that is named which was measured in that pass. Where none is
/// named, the build is the newest that was, else the newest nightly that was judged, else that is
/// known, with its baseline; nothing before there is one. Errors: of storage.
Result<ObservedBuilds> observed_builds(storage::Database&, Pass,
                                       std::optional<storage::BuildRow> named);

}  // namespace torchwatch::evidence
