#pragma once

#include "parts.hpp"

namespace torchwatch::pages {

// The lists and the page of each item. Errors: not_found; invalid (a parameter); those of storage.

Result<http::Reply> list_incidents(const http::Request&, const Sources&);
Result<http::Reply> list_comparisons(const http::Request&, const Sources&);

/// What changed, who did it and how sure that is, what to do, and the text of the issue.
Result<http::Reply> get_incident(const http::Request&, const Sources&);

/// The verdicts of a comparison, what matters first, and its incidents.
Result<http::Reply> get_comparison(const http::Request&, const Sources&);

/// What is known of a build. Its folder is for trusted readers.
Result<http::Reply> get_build(const http::Request&, const Sources&);

}  // namespace torchwatch::pages
