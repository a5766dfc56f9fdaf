#pragma once

#include <string>

#include "exchange.hpp"

namespace torchwatch::web {

/// The one HTTP status of an error code.
int status_of(ErrorCode);

/// "Not Found"
std::string title_of(int status);

/// application/problem+json (RFC 9457).
Reply problem(int status, const std::string& detail);

/// An error as a problem. Whose message may hold what is internal (paths, SQL) shows a fixed
/// sentence instead.
Reply problem(const Error&);

/// Whether the error's message is kept from clients and belongs into the log.
bool is_internal(ErrorCode);

}  // namespace torchwatch::web
