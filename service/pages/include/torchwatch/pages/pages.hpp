#pragma once

#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/storage/database.hpp"

namespace torchwatch::pages {

/// The routes of the pages for people: the overview (`/`) and its style sheet. The database must
/// outlive them. Handlers are thread-safe.
std::vector<http::Route> routes(storage::Database&);

}  // namespace torchwatch::pages
