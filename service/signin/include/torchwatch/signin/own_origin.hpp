#pragma once

#include <string>

#include "torchwatch/http/exchange.hpp"

namespace torchwatch::signin {

/// Returns whether the person's browser speaks https: a trusted proxy says so, or the host that was
/// asked is that of `public_address` (of [web]), which is an https address.
bool is_https(const http::Request&, const std::string& public_address);

/// Returns whether a page of this service sent the request: its Origin is the address that was
/// asked, or `public_address`. A request without Origin is nobody's.
bool is_own_origin(const http::Request&, const std::string& public_address);

}  // namespace torchwatch::signin
