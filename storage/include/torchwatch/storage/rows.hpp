#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/run_result.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::storage {

using Id = std::int64_t;
using WallMillis = std::int64_t;  ///< UTC, for display only

// Rows as the rest of the service sees them. `..._json` members are opaque to storage.

enum class BuildOrigin { nightly, commit, folder, release };
enum class BuildState { discovered, ready, rejected };

/// A LibTorch tree that is known. (origin, name, content_hash) is unique: a file re-published
/// under the same name is a new build.
struct BuildRow {
  Id id = 0;
  BuildOrigin origin = BuildOrigin::nightly;
  std::string name;             ///< the channel's name of it, a folder, or a commit
  std::string version;          ///< build-version; empty until ready
  std::string embedded_commit;  ///< build-hash as found in the tree
  std::string trunk_commit;     ///< the commit of [source] it was built from; empty where unknown
  std::string content_hash;     ///< SHA-256 over the libraries; empty until ready
  std::string folder;           ///< where it lies; empty until ready
  BuildState state = BuildState::discovered;
  std::string reason;  ///< why it was rejected
};

enum class NightKind { nightly, compare, self_test };

/// discovered -> ready -> measured -> judged -> bisected -> reported; `accepted` is the oldest
/// nightly's end (no verdict), `refused` that of a night whose builds cannot be measured.
enum class NightState {
  discovered,
  ready,
  measured,
  judged,
  bisected,
  reported,
  accepted,
  refused
};

struct NightRow {
  Id id = 0;
  NightKind kind = NightKind::nightly;
  Id candidate = 0;
  std::optional<Id> baseline;
  int repetition = 0;  ///< 0 for the night itself; explicit comparisons of the same pair count up
  NightState state = NightState::discovered;
  int version = 0;  ///< guards every update
  std::string plan_json;
  std::string summary_json;  ///< what there is to say beside the verdicts; empty until judged
  std::string reason;
  WallMillis created_at = 0;
  WallMillis ended_at = 0;
};

/// What builds compared with themselves have come to, of one metric.
struct SelfTestTally {
  Metric metric = Metric::time;
  int series = 0;  ///< that were judged
  int inconclusive = 0;
  int regressed = 0;  ///< every one a false alarm
  int improved = 0;   ///< likewise, the other way
};

struct VerdictRow {
  Id id = 0;
  Id night = 0;
  Target target;
  Verdict verdict = Verdict::inconclusive;
  double ratio = 0;  ///< candidate / baseline; 0 where there is none
  double interval_low = 0;
  double interval_high = 0;
  double baseline_value = 0;  ///< centre, in the metric's unit
  double candidate_value = 0;
  double baseline_spread = 0;  ///< robust sd of the runs' values over their centre
  double candidate_spread = 0;
  int runs = 0;
  std::string reason;
};

enum class OwnerKind { night, bisection };

/// What a run was made for.
struct Owner {
  OwnerKind kind = OwnerKind::night;
  Id id = 0;
  auto operator<=>(const Owner&) const = default;
};

enum class AttemptState { issued, done, failed, abandoned, stale };

/// One start of a process, committed before the process starts. `slot` says which run of the
/// owner's plan it is; at most one attempt of a slot can be `done`.
struct AttemptOrder {
  Owner owner;
  std::string slot;
  Id build = 0;
  Cell cell;
  Pass pass = Pass::timing;
};

/// A run that has ended, as the pipeline reads it back (samples stay in the database).
struct RunRow {
  Id attempt = 0;
  std::string slot;
  Id build = 0;
  Cell cell;
  Pass pass = Pass::timing;
  RunStatus status = RunStatus::ok;
  std::string reason;
  std::map<Metric, std::int64_t> values;
  std::string environment_digest;  ///< equal digests mean comparable runs
};

enum class IncidentState { open, acknowledged, closed };

struct IncidentTargetRow {
  Target target;
  double ratio = 0;  ///< candidate / baseline; for leaks 0
  double interval_low = 0;
  double interval_high = 0;
  double baseline_value = 0;
  double candidate_value = 0;
};

/// Who takes a change as it is, and why.
struct Acceptance {
  std::string by;
  std::string reason;
  WallMillis at = 0;
};

struct IncidentRow {
  Id id = 0;
  Id night = 0;     ///< the night that found it
  std::string key;  ///< unique among those not closed; from what changed, never from a date
  IncidentKind kind = IncidentKind::regression;
  IncidentState state = IncidentState::open;
  std::string title;
  std::vector<IncidentTargetRow> targets;
  std::optional<Id> bisection;
  std::optional<std::int64_t> issue_number;
  std::optional<Acceptance> acceptance;
  WallMillis opened_at = 0;
  WallMillis closed_at = 0;
};

enum class BisectionState { open, ended };

struct BisectionRow {
  Id id = 0;
  std::optional<Id> incident;  ///< none for a search a person asked for
  BisectionState state = BisectionState::open;
  int version = 0;
  std::string good;  ///< trunk shas
  std::string bad;
  std::string request_json;  ///< targets, builds of the ends, settings
  std::string answer_json;   ///< once ended
  WallMillis created_at = 0;
  WallMillis ended_at = 0;
};

/// One step of a search, appended; (bisection, ordinal) is unique. The search is their replay.
struct BisectionEventRow {
  int ordinal = 0;
  std::string kind;
  std::string body_json;
};

enum class OutboxKind { open, comment, close };
enum class OutboxState { pending, sending, sent, dead };

struct OutboxRow {
  std::string key;  ///< unique; becomes the hidden marker in the issue's text
  Id incident = 0;
  OutboxKind kind = OutboxKind::open;
  std::string title;
  std::string body;
  std::string digest;  ///< SHA-256 of title and body, checked on read
  OutboxState state = OutboxState::pending;
  int tries = 0;
  WallMillis not_before = 0;
  std::optional<std::int64_t> issue_number;
  std::string last_error;
};

enum class RequestKind { nightly, bisection };
enum class RequestState { pending, running, done, failed };

/// Work that somebody asked for over HTTP. `delivery` is unique: a repeated one changes nothing.
struct RequestRow {
  Id id = 0;
  std::string delivery;
  RequestKind kind = RequestKind::nightly;
  RequestState state = RequestState::pending;
  std::string body_json;
  std::string result_json;
  WallMillis created_at = 0;
};

// The one spelling of each word, the same in SQL, JSON and pages.
std::string_view to_string(BuildOrigin);
std::string_view to_string(BuildState);
std::string_view to_string(NightKind);
std::string_view to_string(NightState);
std::string_view to_string(AttemptState);
std::string_view to_string(IncidentState);
std::string_view to_string(BisectionState);
std::string_view to_string(OutboxKind);
std::string_view to_string(OutboxState);
std::string_view to_string(RequestKind);
std::string_view to_string(RequestState);

}  // namespace torchwatch::storage
