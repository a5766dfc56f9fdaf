#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::oidc {

/// What a token says of itself. Nothing of it is verified.
struct Unverified {
  std::string key_id;
  nlohmann::json claims;  ///< an object
};

/// Reads a token that says that it is signed with RS256. Errors: invalid.
Result<Unverified> read_token(const std::string& token);

/// Returns whether the key (PEM) has signed the token with RS256.
bool is_signed_by(const std::string& token, const std::string& pem);

}  // namespace torchwatch::oidc
