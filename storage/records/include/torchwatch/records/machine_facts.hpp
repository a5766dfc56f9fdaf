#pragma once

#include <string>

#include "torchwatch/records/run_result.hpp"

namespace torchwatch {

/// Returns whether a fact of an environment describes the machine, not the build: facts about the
/// build have names that begin with "build.".
bool is_of_machine(const std::string& fact);

/// Returns the facts of the machine as lines "name: value". They must be equal for two runs to be
/// compared.
std::string machine_of(const Environment&);

/// Returns the first line in which two texts differ, as "a -> b".
std::string first_difference(const std::string& a, const std::string& b);

}  // namespace torchwatch
