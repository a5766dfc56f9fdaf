#pragma once

#include "query.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Stores them in the caller's transaction, with a result that is there.
void store_operator_figures(Connection&, Id attempt, const std::map<std::string, OperatorFigures>&);

std::map<std::string, OperatorFigures> load_operator_figures(Connection&, Id attempt);

}  // namespace torchwatch::storage
