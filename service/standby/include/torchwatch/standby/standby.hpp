#pragma once

#include <memory>
#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::standby {

/// Answers every request at the daemon's address with 503 and the reason until it is destroyed;
/// null where it cannot. The clock must outlive it.
std::unique_ptr<http::Server> answer(const config::Config&, const platform::Clock&,
                                     const std::string& reason);

}  // namespace torchwatch::standby
