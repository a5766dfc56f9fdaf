#pragma once

#include <string>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

/// Returns the address of the repository that issues are filed in, by [github] repository and api;
/// empty where there is none.
std::string issues_address(const Config&);

}  // namespace torchwatch::config
