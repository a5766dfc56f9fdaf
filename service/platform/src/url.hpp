#pragma once

#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::platform {

/// A URL taken apart: where to connect, and what to ask for there.
struct Url {
  std::string origin;  ///< "https://host:port" as given, without user information
  std::string target;  ///< "/path?query"; "/" when the URL has none
};

/// Errors: invalid, naming what is wrong (scheme, user information, spaces, no host).
Result<Url> parse_url(std::string_view text);

}  // namespace torchwatch::platform
