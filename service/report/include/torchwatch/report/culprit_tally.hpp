#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// How often bisections named a commit, and how often a person held it for the wrong one.
struct CulpritTally {
  int named = 0;     ///< bisections that ended with a culprit
  int disputed = 0;  ///< of these
};

/// Counts the given bisections.
CulpritTally culprit_tally(const std::vector<storage::BisectionRow>&);
/// Counts the newest thousand.
Result<CulpritTally> culprit_tally(storage::Database&);

/// "12 bisections named a commit; 1 of them was disputed."
std::string culprit_tally_text(const CulpritTally&);
nlohmann::json json_of(const CulpritTally&);

}  // namespace torchwatch::report
