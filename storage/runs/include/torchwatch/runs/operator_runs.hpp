#pragma once

#include <map>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// A run that states what operators take of an iteration.
struct OperatorRun {
  std::string slot = {};
  Id build = 0;
  std::map<std::string, OperatorFigures> operators = {};  ///< by name
  std::int64_t iteration_ns = 0;                          ///< without watching them
  std::int64_t watched_ns = 0;                            ///< with it
};

/// Returns the runs of a comparison that state operators and whose slots begin with `slots`, in the
/// order of their attempts. Errors: of storage.
Result<std::vector<OperatorRun>> operator_runs_of(Database&, Id comparison,
                                                  const std::string& slots);

}  // namespace torchwatch::storage
