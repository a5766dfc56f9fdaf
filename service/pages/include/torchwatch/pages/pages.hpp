#pragma once

#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::pages {

/// The routes of the pages for people: the overview (`/`), at most two seconds old, and its style
/// sheet. Database and clock must outlive them. Handlers are thread-safe.
std::vector<http::Route> routes(storage::Database&, const platform::Clock&);

}  // namespace torchwatch::pages
