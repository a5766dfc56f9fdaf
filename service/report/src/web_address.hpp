#pragma once

#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::report {

/// A URL as far as it decides who gets the token.
struct WebAddress {
  std::string scheme;  ///< "https" or "http"
  std::string host;    ///< lower case; an IPv6 address with its brackets
  int port = 0;
  std::string target;  ///< "/path?query"

  bool has_origin_of(const WebAddress& other) const;
  std::string text() const;
};

/// Errors: invalid. Plain http is refused but for a literal loopback address (127.0.0.0/8, [::1]):
/// a token must not travel in the clear.
Result<WebAddress> parse_address(std::string_view url);

/// Where a Location or Link header of an answer from `base` leads.
Result<WebAddress> resolve(const WebAddress& base, std::string_view location);

}  // namespace torchwatch::report
