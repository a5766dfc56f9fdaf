#pragma once

#include <map>
#include <string>

#include "torchwatch/http/exchange.hpp"

namespace torchwatch::http {

/// The headers that every answer has, unless its reply has them.
const std::multimap<std::string, std::string>& default_headers();

/// Writes an answer as it is sent, without the HTTP library, with further headers. For what the
/// reception answers by itself.
std::string plain_reply(const Reply&, const std::map<std::string, std::string>& further);

}  // namespace torchwatch::http
