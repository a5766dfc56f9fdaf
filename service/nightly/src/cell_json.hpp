#pragma once

#include <nlohmann/json.hpp>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::nightly {

// Cells and targets inside the JSON that this room stores. The readers throw json::exception for
// a missing member, as all reading of stored JSON here does; the caller's one catch names it.

nlohmann::json cell_to_json(const Cell&);
Result<Cell> cell_from_json(const nlohmann::json&);
nlohmann::json target_to_json(const Target&);
Result<Target> target_from_json(const nlohmann::json&);

}  // namespace torchwatch::nightly
