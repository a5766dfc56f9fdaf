#pragma once

#include "parts.hpp"

namespace torchwatch::pages {

/// Renders `/`: what is wrong, how old the data is, what is under way, then the open incidents, the
/// newest comparisons, and how often the service itself is wrong. Errors: those of storage; invalid
/// (a parameter).
Result<http::Reply> get_overview(const http::Request&, const Sources&);

}  // namespace torchwatch::pages
