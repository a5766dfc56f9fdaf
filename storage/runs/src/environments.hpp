#pragma once

#include <map>
#include <string>

#include "query.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Returns a digest that is equal for equal facts.
std::string digest_of_facts(const std::map<std::string, std::string>& facts);

/// Returns the id of the environment with these facts, which is inserted if it is new. Call inside
/// a write transaction.
Id environment_id(Connection&, const std::map<std::string, std::string>& facts);

/// Counts a run of an environment for the machine that it was measured on, if its facts name one.
void count_run(Connection&, Id environment, Id attempt);

/// Returns the facts with that digest. Errors: not_found; corrupt when they do not match it.
Result<std::map<std::string, std::string>> facts_of(Connection&, const std::string& digest);

}  // namespace torchwatch::storage
