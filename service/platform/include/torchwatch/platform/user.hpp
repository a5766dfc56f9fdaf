#pragma once

#include <sys/types.h>

#include <string>

namespace torchwatch::platform {

/// Returns the name of a user of this machine; "uid 1000" if it has no name here. Thread-safe.
std::string user_name(uid_t user);

}  // namespace torchwatch::platform
