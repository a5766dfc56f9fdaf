#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/http/exchange.hpp"

namespace torchwatch::pages {

/// Renders `/`: how often the service is wrong, the incidents, the comparisons. Errors: those of
/// storage; invalid (a parameter). Strangers do not see remarks and folders of builds.
Result<http::Reply> get_overview(const http::Request&, storage::Database&);

}  // namespace torchwatch::pages
