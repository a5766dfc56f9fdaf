#pragma once

#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::github {

/// A URL as far as it decides who gets the token.
struct WebAddress {
  std::string scheme;  ///< "https" or "http"
  std::string host;    ///< lower case; an IPv6 address with its brackets
  int port = 0;
  std::string target;  ///< "/path?query"

  bool has_origin_of(const WebAddress& other) const;
  std::string text() const;
};

/// Parses an absolute URL. Plain http is allowed only to a literal loopback address (127.0.0.0/8,
/// [::1]), because a token must not travel in the clear. Errors: invalid.
Result<WebAddress> parse_address(std::string_view url);

/// Resolves a Location or Link header of an answer from `base`. Errors: invalid.
Result<WebAddress> resolve(const WebAddress& base, std::string_view location);

}  // namespace torchwatch::github
