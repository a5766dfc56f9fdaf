#pragma once

#include "torchwatch/records/error.hpp"

namespace torchwatch::tracing {

/// Whether the work as a whole must end, and not only what failed.
inline bool ends_work(const Error& error) {
  return error.code == ErrorCode::cancelled || error.code == ErrorCode::damaged;
}

}  // namespace torchwatch::tracing
