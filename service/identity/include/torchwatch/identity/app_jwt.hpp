#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::identity {

/// Makes the JSON web token by which App `app` proves at `now` (seconds since the epoch) that it
/// is itself, signed by RS256 with `key`, a PEM. It is valid from a minute before `now`, because
/// clocks differ, until nine minutes after; GitHub allows ten. Errors: invalid (the key), without
/// its text.
Result<std::string> make_app_jwt(const std::string& key, std::int64_t app,
                                 std::chrono::seconds now);

}  // namespace torchwatch::identity
