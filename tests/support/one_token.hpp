#pragma once

#include <map>
#include <optional>
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

/// Knows those tokens, and whose they are.
inline http::TokenHolder tokens_of(const std::map<std::string, http::Identity>& tokens) {
  std::map<std::string, http::Identity> by_hash;
  for (const auto& [token, identity] : tokens) by_hash[http::hash_token(token)] = identity;
  return {.find = [by_hash](const std::string& asked) {
    const auto found = by_hash.find(asked);
    return found == by_hash.end() ? std::nullopt : std::optional(found->second);
  }};
}

}  // namespace torchwatch::test
