#pragma once

#include <nlohmann/json.hpp>

#include "../exchange.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/web/server.hpp"

namespace torchwatch::web::handlers {

/// Stores work that is asked for, wakes the daemon and answers 202 with the request's id. The
/// same Idempotency-Key again is the same request. Errors: conflict (the key was used for
/// something else), invalid (the key is none).
Result<Reply> submit(const Request&, Backend&, storage::RequestKind, const nlohmann::json& body);

}  // namespace torchwatch::web::handlers
