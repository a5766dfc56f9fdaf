#pragma once

#include <chrono>
#include <string>

#include "torchwatch/http/exchange.hpp"

namespace torchwatch::signin {

/// Returns the cookie's name for the host that was asked: browsers keep the cookies of all ports of
/// a host together. Behind TLS it is one that nobody but this host can set.
std::string cookie_name(const http::Request&, bool is_https);

/// Returns the random id that the request's cookie holds: 64 hex digits. Empty where there is no
/// such cookie, more than one, or one that holds anything else.
std::string id_in_cookie(const http::Request&, bool is_https);

/// Makes the value of Set-Cookie; with no time left it removes the cookie.
std::string cookie_text(const http::Request&, bool is_https, const std::string& id,
                        std::chrono::seconds left);

}  // namespace torchwatch::signin
