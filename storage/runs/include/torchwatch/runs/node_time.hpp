#pragma once

#include <map>
#include <optional>
#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Returns how long each node of the cluster worked, in seconds, by its name: for that owner, or
/// for all together.
Result<std::map<std::string, double>> node_seconds(Database&, std::optional<Owner> = {});

}  // namespace torchwatch::storage
