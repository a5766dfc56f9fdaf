#pragma once

#include "torchwatch/api/api.hpp"
#include "torchwatch/http/exchange.hpp"

namespace torchwatch::api {

/// Answers POST /api/v1/measurements: one build is run in passes that time nothing.
Result<http::Reply> ask_for_measurement(const http::Request&, const Backend&);

}  // namespace torchwatch::api
