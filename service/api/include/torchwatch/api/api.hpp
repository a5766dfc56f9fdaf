#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/events/feed.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::api {

/// What does not work at present.
struct Problem {
  std::string source;  ///< "storage", "channel", "outbox", or the kind of an item: "comparison"
  std::string item;    ///< the item's id or name; empty for what concerns the whole service
  platform::WallMillis since = 0;
  std::string sentence;  ///< for strangers: without paths and without output of children
};

/// What the API needs from the daemon. What it refers to must outlive the routes.
struct Backend {
  storage::Database& database;
  const platform::Clock& clock;
  platform::Random& random;
  std::function<void()> request_arrived;           ///< wakes the daemon; must not block
  std::function<std::vector<Problem>()> problems;  ///< for /healthz; must not block
  /// Makes a decision about an incident, as nightly::decide_incident does.
  std::function<Status(storage::Id incident, storage::DecisionKind, const std::string& by,
                       const std::string& reason)>
      decide_incident;
  /// After a token was stored, or one of that name revoked; empty: none was.
  std::function<Status(const std::string& revoked)> tokens_changed{};
  /// Do as the functions of nightly/triage.hpp do; those that open work return its id.
  std::function<Result<storage::Id>(storage::Id incident, const std::string& by,
                                    const std::string& reason)>
      dispute_incident = {};
  /// Returns the comparison that is due, and whether it was opened for this.
  std::function<Result<std::pair<storage::Id, bool>>(storage::Id incident)> retest_incident = {};
  std::function<Status(storage::Id bisection)> cancel_bisection = {};
  /// Checks what a request asks for, as requests::check does; `is_local`: asked on this machine.
  std::function<Status(storage::RequestKind, const nlohmann::json& body, bool is_local)>
      check_request = {};
  /// Returns the suite's workloads as `torchwatch workload list --json` shows them, from what is at
  /// hand: it compiles nothing.
  std::function<Result<nlohmann::json>()> suite = {};
  events::Feed* feed = nullptr;            ///< who sends events; null: nobody does
  std::vector<std::string> warnings = {};  ///< for /healthz: what works, but not as it should
};

/// The routes of /api/v1 and /healthz, as `openapi.json` of this folder describes them (a test
/// compares the two). Handlers are thread-safe.
std::vector<http::Route> routes(const Backend&);

}  // namespace torchwatch::api
