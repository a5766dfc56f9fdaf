#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/events/feed.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::api {

/// What the API needs from the daemon. What it refers to must outlive the routes.
struct Backend {
  storage::Database& database;
  const platform::Clock& clock;
  platform::Random& random;
  std::function<void()> request_arrived;  ///< wakes the daemon; must not block
  /// What does not work and what is done at present, for /healthz and /metrics.
  std::function<health::Report()> service_now;
  /// Accepts an incident, as nightly::accept_incident does.
  std::function<Status(storage::Id incident, const std::string& by, const std::string& reason)>
      accept_incident;
  std::function<Status()> tokens_changed{};  ///< after one was stored or revoked
  /// Decide as the functions of nightly::triage do; those that open work return its id.
  std::function<Status(storage::Id incident, const std::string& by)> reopen_incident = {};
  std::function<Result<storage::Id>(storage::Id incident, const std::string& by,
                                    const std::string& reason)>
      dispute_incident = {};
  std::function<Result<storage::Id>(storage::Id incident)> retest_incident = {};
  std::function<Status(storage::Id bisection)> cancel_bisection = {};
  /// Returns the suite's workloads as `torchwatch workload list --json` shows them, from what is at
  /// hand: it compiles nothing.
  std::function<Result<nlohmann::json>()> suite = {};
  /// Has the caches brought to their limit as soon as nothing is measured; must not block.
  std::function<void()> tidy_caches = {};
  events::Feed* feed = nullptr;  ///< who sends events; null: nobody does
};

/// The routes of /api/v1 and /healthz, as `openapi.json` of this folder describes them (a test
/// compares the two). Handlers are thread-safe.
std::vector<http::Route> routes(const Backend&);

}  // namespace torchwatch::api
