#pragma once

#include <string>

#include "torchwatch/http/server.hpp"

namespace torchwatch::test {

/// Knows one bearer token, which may do everything.
inline http::TokenHolder one_token(const std::string& token) {
  return {.find = [sha256 = http::hash_token(token)](const std::string& asked) {
    return asked == sha256 ? std::optional(http::Identity{1, all_scopes()}) : std::nullopt;
  }};
}

}  // namespace torchwatch::test
