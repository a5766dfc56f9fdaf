#pragma once

#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::requests {

/// Returns the kind of a request in the word that people and programs read. One for named builds is
/// a comparison, or a measurement, whichever endpoint took it.
std::string kind_text(const storage::RequestRow&);

}  // namespace torchwatch::requests
