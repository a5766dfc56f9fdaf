#pragma once

#include <map>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::oidc {

/// Returns the RSA keys for RS256 of a JSON web key set, in PEM by their key ids; others are left
/// out, and so are keys of less than 2,048 bits. Errors: corrupt (no set of keys, none that fits).
Result<std::map<std::string, std::string>> keys_of_set(const std::string& json);

}  // namespace torchwatch::oidc
