#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "torchwatch/requests/bisection_request.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::daemon {

/// What a request that was put off keeps of its bisection, so that it does not search again.
struct RequestedBisection {
  std::optional<storage::Id> opened = {};               ///< by an earlier try
  /// Stores the "comparison" or the "bisection" that this try opens, in the transaction that opens
  /// it. Where it fails, as for a request that was cancelled, nothing is opened.
  std::function<Status(const char* what, storage::Id)> note = {};
};

/// Carries the request out to the end of its bisection. With a suspect: first that commit against
/// its parent; only if that does not reproduce and ends are given, the range.
/// Errors: invalid and not_found (the commits, the series), unavailable, cancelled.
Result<storage::BisectionRow> bisect_on_demand(Application&, const requests::BisectionRequest&,
                                               std::stop_token stop,
                                               const RequestedBisection& = {});

}  // namespace torchwatch::daemon
