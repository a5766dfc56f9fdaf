#pragma once

#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Returns the column of table `attempt` that names an owner of that kind.
inline std::string owner_column(OwnerKind kind) {
  return kind == OwnerKind::comparison ? "comparison_id" : "bisection_id";
}

}  // namespace torchwatch::storage
