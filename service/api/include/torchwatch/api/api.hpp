#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/events/feed.hpp"
#include "torchwatch/evidence/noise.hpp"
#include "torchwatch/evidence/pasts.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/http/router.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/build_files.hpp"
#include "torchwatch/report/trunk_range.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::api {

/// What the API needs from the daemon. What it refers to must outlive the routes.
struct Backend {
  storage::Database& database;
  const platform::Clock& clock;
  platform::Random& random;
  std::function<void()> request_arrived;  ///< wakes the daemon; must not block
  /// What does not work and what is done at present, for /healthz and /metrics; must not block.
  std::function<health::Report()> service_now;
  /// Makes a decision about an incident, as triage::decide_incident does.
  std::function<Status(storage::Id incident, storage::DecisionKind, const storage::Decision&)>
      decide_incident;
  /// After a token was stored, or one of that name revoked; empty: none was.
  std::function<Status(const std::string& revoked)> tokens_changed{};
  /// Do as the functions of triage/triage.hpp do; those that open work return its id.
  std::function<Result<storage::Id>(storage::Id incident, const storage::Decision&)>
      dispute_incident = {};
  /// Returns the comparison that is due, and whether it was opened for this.
  std::function<Result<std::pair<storage::Id, bool>>(storage::Id incident)> retest_incident = {};
  std::function<Status(storage::Id comparison, const storage::Asker&)> cancel_comparison = {};
  std::function<Status(storage::Id bisection, const storage::Asker&)> cancel_bisection = {};
  /// Does as pulls::cancel_request does.
  std::function<Status(storage::Id request, const storage::Asker&)> cancel_request = {};
  /// Follows a bisection, as bisection::replay_of does; empty: nothing is said of its steps.
  std::function<report::SearchReplay(const storage::BisectionRow&)> replay_of = {};
  /// Checks what a request asks for, as requests::check does; `is_local`: asked on this machine.
  std::function<Status(storage::RequestKind, const nlohmann::json& body, bool is_local)>
      check_request = {};
  /// Returns the suite's workloads as `torchwatch workload list --json` shows them, from what is at
  /// hand: it compiles nothing.
  std::function<Result<nlohmann::json>()> suite = {};
  report::CountCommits count_commits = {};  ///< empty: nobody counts them
  /// Has the caches brought to their limit as soon as nothing is measured; must not block.
  std::function<void()> tidy_caches = {};
  /// Do as the functions of caches/build_files.hpp do.
  std::function<Result<bool>(const storage::BuildRow&, bool keep)> pin_build = {};
  std::function<Status(const storage::BuildRow&)> remove_build_files = {};
  /// Copies the database into a new file, checked whole, and returns its path. Errors: those of
  /// storage::back_up; conflict (another backup or check is under way).
  std::function<Result<std::filesystem::path>()> back_up_database = {};
  /// Returns which rules stored rows break. Errors: those of check_invariants, and the same.
  std::function<Result<std::vector<storage::InvariantBreach>>()> check_database = {};
  events::Feed* feed = nullptr;       ///< who sends events; null: nobody does
  std::string issues_address = {};    ///< of the repository with the issues; empty: there are none
  report::AskForFiles files_of = {};  ///< the files of a build; must not block
  /// Returns the noise of a series, as evidence::read_noise does; empty: it is not known.
  std::function<Result<std::optional<evidence::Noise>>(const Series&)> noise_of = {};
  /// Returns the past of a series, as evidence::Pasts does.
  std::function<Result<std::vector<storage::PastValue>>(const Series&)> past_of;
};

/// The routes of /api/v1 and /healthz, as `openapi.json` of this folder describes them (a test
/// compares the two). What changes nothing is answered from `reading`, whose database may be a
/// connection of its own. Handlers are thread-safe.
std::vector<http::Route> routes(const Backend& changing, const Backend& reading);

}  // namespace torchwatch::api
