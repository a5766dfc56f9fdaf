#pragma once

#include <string>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/protocol/request.hpp"

namespace torchwatch::runner {

/// Errors name the file and what is wrong in it.
Result<protocol::Request> read_request(const std::string& path);

struct Runnable {
  protocol::Request request;
  const models::Entry* entry = nullptr;
};

/// A request whose workload is compiled in and can be built here. Errors: also invalid, with the
/// names that are near, or why it is refused.
Result<Runnable> read_runnable(const std::string& path);

}  // namespace torchwatch::runner
