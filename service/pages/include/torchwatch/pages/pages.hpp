#pragma once

#include <string>
#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/site/sources.hpp"

namespace torchwatch::pages {

/// The routes of the pages for people, each with its twins: the same path with `.json` (the API's
/// answer), with `.md` as its ending (the text), and with `.csv` where the page has a table; and
/// the style sheet. The overview (`/`, its twins are called `index`) is at most two seconds old.
/// Handlers are thread-safe.
std::vector<http::Route> routes(Sources);

/// Makes the text of one page, "/comparisons/7", as its `.md` twin shows it to a trusted reader; no
/// API is needed for it. Errors: those of the page; not_found, when there is no such page.
Result<std::string> text_of(Sources, const std::string& path);

}  // namespace torchwatch::pages
