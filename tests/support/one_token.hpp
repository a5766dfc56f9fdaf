#pragma once

#include <string>

#include "torchwatch/http/server.hpp"

namespace torchwatch::test {

/// Knows one bearer token, named "a test", which may do everything.
inline http::TokenHolder one_token(const std::string& token) {
  return {.find = [sha256 = http::hash_token(token)](const std::string& asked) {
    return asked == sha256 ? std::optional(http::Identity{1, all_scopes(), "a test"})
                           : std::nullopt;
  }};
}

}  // namespace torchwatch::test
