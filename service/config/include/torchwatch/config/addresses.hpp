#pragma once

#include <string>

#include "torchwatch/config/config.hpp"

namespace torchwatch::config {

/// Returns the address of the repository that issues are filed in, by [github] repository and api;
/// empty where there is none.
std::string issues_address(const Config&);

/// Returns what a command in a comment begins with ("/"); empty where nobody reads comments, by
/// polling or by a webhook.
std::string heard_command_prefix(const Config&);

}  // namespace torchwatch::config
