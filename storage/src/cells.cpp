#include "cells.hpp"

namespace torchwatch::storage {

Id cell_id(Connection& connection, const Cell& cell) {
  const auto configuration = to_string(cell.configuration);
  const auto variant = to_string(cell.variant);
  execute(connection,
          "INSERT INTO cell (workload, configuration, variant) VALUES (?, ?, ?) "
          "ON CONFLICT DO NOTHING",
          cell.workload, configuration, variant);
  Query query(connection,
              "SELECT id FROM cell WHERE workload = ? AND configuration = ? AND variant = ?",
              cell.workload, configuration, variant);
  return query.next() ? query.take<Id>() : 0;
}

Cell take_cell(Query& row) {
  Cell cell;
  cell.workload = row.take<std::string>();
  cell.configuration = row.take<Configuration>();
  cell.variant = row.take<Variant>();
  return cell;
}

}  // namespace torchwatch::storage
