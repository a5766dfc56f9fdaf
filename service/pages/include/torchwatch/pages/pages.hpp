#pragma once

#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/site/sources.hpp"

namespace torchwatch::pages {

/// The routes of the pages for people, each with its twins: the same path with `.json` (the API's
/// answer), with `.md` as its ending (the text), and with `.csv` where the page has a table; and
/// the style sheet. The overview (`/`, its twins are called `index`) is at most two seconds old.
/// Handlers are thread-safe.
std::vector<http::Route> routes(Sources);

}  // namespace torchwatch::pages
