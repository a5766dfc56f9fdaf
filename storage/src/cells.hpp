#pragma once

#include "query.hpp"

namespace torchwatch::storage {

/// The id of a cell's row, made if there is none. Inside a write transaction.
Id cell_id(Connection&, const Cell&);

/// The columns that `take_cell` reads, of table `cell`.
inline constexpr const char* kCellColumns = "cell.workload, cell.configuration, cell.variant";
Cell take_cell(Query&);

}  // namespace torchwatch::storage
