#pragma once

#include <map>
#include <string>

#include "query.hpp"

namespace torchwatch::storage {

/// Equal facts, equal digest. Volatile facts are no part of it.
std::string digest_of_facts(const std::map<std::string, std::string>& facts);

/// The id of the environment with these facts, made if there is none. Inside a write transaction.
Id environment_id(Connection&, const std::map<std::string, std::string>& facts);

/// Errors: not_found; corrupt when the facts do not match the digest.
Result<std::map<std::string, std::string>> facts_of(Connection&, const std::string& digest);

}  // namespace torchwatch::storage
