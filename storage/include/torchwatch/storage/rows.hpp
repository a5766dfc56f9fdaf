#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/asker.hpp"
#include "torchwatch/records/run_result.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::storage {

using Id = std::int64_t;
using WallMillis = std::int64_t;  ///< UTC, for display only

// Rows as the rest of the service sees them. `..._json` members are opaque to storage.

/// `pull`: of a pull request, for its own comparison alone.
enum class BuildOrigin { nightly, commit, folder, release, pull };
enum class BuildState { discovered, ready, rejected };

/// A known LibTorch tree. (origin, name, content_hash) is unique: a file re-published under the
/// same name is a new build.
struct BuildRow {
  Id id = 0;
  BuildOrigin origin = BuildOrigin::nightly;
  std::string name;             ///< the channel's name for it, a folder, or a commit
  std::string version;          ///< build-version; empty until ready
  std::string embedded_commit;  ///< build-hash as found in the tree
  std::string trunk_commit;     ///< the commit of [source] it was built from; empty where unknown
  std::string content_hash;     ///< SHA-256 over the libraries; empty until ready
  std::string folder;           ///< where it lies; empty until ready
  BuildState state = BuildState::discovered;
  std::string reason;    ///< why it was rejected
  std::string unusable;  ///< why it cannot be measured although it is ready; empty: it can
  /// What the channel said of the file that was fetched or rejected, which changes when it is
  /// replaced; empty where only the tree can tell.
  std::string fingerprint;
  /// Orders nightlies as they follow one another, whenever they came: a later one has a higher
  /// place. 0 for other builds.
  std::int64_t place = 0;

  bool is_measurable() const { return state == BuildState::ready && unusable.empty(); }
};

/// What a comparison is for.
enum class Purpose {
  nightly,       ///< a new nightly against the one before it
  requested,     ///< two builds that somebody named
  recheck,       ///< the series of an open incident, against its last good build
  drift,         ///< a nightly against a much older one: small steps that add up
  self_test,     ///< a build against itself: what it calls changed is a false alarm
  drill,         ///< a build against itself, slowed down on purpose: it must be called regressed
  measurement,   ///< one build measured; it ends without verdicts
  pull_request,  ///< a pull request's head against what it branched from; never an incident
  study,         ///< two settings of one build (StudyStore); never an incident, of no history
};

/// discovered -> ready -> measured -> judged -> bisected -> reported. The other ends: `accepted`
/// for the oldest nightly and for a measurement, which have nothing to be compared with; `refused`
/// where it can never be carried out as asked; `failed` after three tries; `cancelled` by a person.
enum class ComparisonState {
  discovered,
  ready,
  measured,
  judged,
  bisected,
  reported,
  accepted,
  refused,
  failed,
  cancelled
};

/// Returns whether no state follows that one.
bool is_end(ComparisonState);

/// A comparison to open; the members mean what they mean in ComparisonRow.
struct NewComparison {
  Purpose purpose = Purpose::nightly;
  Id candidate = 0;
  std::optional<Id> baseline = {};  ///< none for the oldest nightly and for a measurement
  std::optional<Id> incident = {};
  int nightlies_back = 0;
  int budget_series = 0;
  bool opens_incidents = false;
  std::string plan_json = {};
};

struct ComparisonRow {
  Id id = 0;
  Purpose purpose = Purpose::nightly;
  Id candidate = 0;
  std::optional<Id> baseline;
  int repetition = 0;            ///< counts comparisons of the same purpose and pair
  std::optional<Id> incident;    ///< the one that a recheck measures again
  int nightlies_back = 0;        ///< nightlies between a drift comparison's baseline and candidate
  int budget_series = 0;         ///< series that share the error budget; 0: the plan's own
  bool opens_incidents = false;  ///< what regressed becomes an incident; else verdicts only
  ComparisonState state = ComparisonState::discovered;
  int version = 0;  ///< guards every update
  std::string plan_json;
  std::string summary_json;               ///< findings beside the verdicts; empty until judged
  std::optional<double> confidence = {};  ///< of the verdicts' intervals; none until judged
  std::string reason;
  WallMillis created_at = 0;
  WallMillis ended_at = 0;
};

/// The verdicts of all self-tests on one metric.
struct SelfTestTally {
  Metric metric = Metric::time;
  int series = 0;  ///< number of verdicts
  int inconclusive = 0;
  int regressed = 0;  ///< false alarms
  int improved = 0;   ///< false alarms, too
};

struct VerdictRow {
  Id comparison = 0;
  Series series;
  Verdict verdict = Verdict::inconclusive;
  double ratio = 0;  ///< candidate / baseline; 0 where it is undefined
  double interval_low = 0;
  double interval_high = 0;
  double baseline_value = 0;  ///< median of the runs, in the metric's unit
  double candidate_value = 0;
  double baseline_spread = 0;  ///< robust sd of the runs' values over their median
  double candidate_spread = 0;
  double pair_spread = 0;  ///< of one pair's ln(candidate / baseline); 0 where it is not known
  int runs = 0;
  std::string reason;
};

enum class OwnerKind { comparison, bisection };

/// The comparison or bisection that a run belongs to.
struct Owner {
  OwnerKind kind = OwnerKind::comparison;
  Id id = 0;
  auto operator<=>(const Owner&) const = default;
};

enum class AttemptState { issued, done, failed, abandoned };

/// One start of a process, committed before the process starts. `slot` is the run's place in the
/// owner's plan; at most one attempt of a slot can be `done`.
struct NewAttempt {
  Owner owner;
  std::string slot;
  Id build = 0;
  Benchmark benchmark;
  Pass pass = Pass::timing;
  std::string node = {};  ///< of a cluster; empty: the service's own machine
};

/// A run that has ended, as the pipeline reads it back (samples stay in the database).
struct RunRow {
  Id attempt = 0;
  std::string slot;
  Id build = 0;
  Benchmark benchmark;
  Pass pass = Pass::timing;
  RunStatus status = RunStatus::ok;
  std::string reason;
  std::map<Metric, std::int64_t> values;
  std::string environment_digest;  ///< equal for comparable runs
  std::string node = {};           ///< of a cluster; empty: the service's own machine
};

enum class IncidentState { open, acknowledged, closed };

struct IncidentSeriesRow {
  Series series;
  double ratio = 0;  ///< candidate / baseline; for leaks 0
  double interval_low = 0;
  double interval_high = 0;
  double baseline_value = 0;
  double candidate_value = 0;
};

/// Returns what an incident keeps of a verdict.
IncidentSeriesRow incident_series(const VerdictRow&);

using torchwatch::Asker;

/// Something that was asked for and done.
struct AuditRow {
  Id id = 0;
  std::string path;      ///< of the endpoint, also where a command did it without the daemon
  std::string item;      ///< that the body names: a message's key, a token's name; else empty
  std::string asked_by;  ///< as to_string of who asked
  WallMillis asked_at = 0;
};

/// Who decided something about an incident, why and when.
struct Decision {
  std::string by;      ///< as they say; empty: nobody, a recheck found the change gone
  std::string reason;  ///< empty where none was given
  WallMillis at = 0;
  std::string asked_by = {};  ///< to_string of who really asked; empty where it is not known
  Id event = 0;               ///< the newest one when it was stored; 0: not known
};

enum class DecisionKind { acknowledged, accepted, closed, reopened, disputed };

struct DecisionRow {
  DecisionKind kind = DecisionKind::acknowledged;
  Decision decision;
};

struct IncidentRow {
  Id id = 0;
  Id comparison = 0;  ///< the comparison that found it
  std::string key;    ///< made of what changed, not of a date; unique among those not closed, so
                      ///< that a further change of the same series has its comparison added
  IncidentKind kind = IncidentKind::regression;
  IncidentState state = IncidentState::open;
  std::string title;
  std::vector<IncidentSeriesRow> series;
  std::optional<Id> bisection;
  std::optional<std::int64_t> issue_number;
  std::string unfiled = {};  ///< why it has no issue of its own; empty: it has one, or will have
  std::vector<DecisionRow> decisions;  ///< oldest first; of earlier schemas acceptances alone
  std::optional<Decision> acceptance;  ///< the newest decision, where that is one
  WallMillis opened_at = 0;
  WallMillis closed_at = 0;
};

enum class BisectionState { open, ended };

struct BisectionRow {
  Id id = 0;
  std::optional<Id> incident;  ///< empty for a bisection that a person requested
  BisectionState state = BisectionState::open;
  int version = 0;
  std::string good;  ///< trunk shas
  std::string bad;
  std::string spec_json;    ///< series, builds of the ends, settings
  std::string result_json;  ///< once ended
  WallMillis created_at = 0;
  WallMillis ended_at = 0;
};

/// One step of a bisection. Steps are only appended; (bisection, ordinal) is unique. Replaying them
/// restores the bisection.
struct BisectionEventRow {
  int ordinal = 0;
  std::string kind;
  std::string body_json;
};

enum class OutboxKind {
  open,     ///< the issue of an incident or alarm
  comment,  ///< on that issue, as are the next three
  close,    ///< with the comment in its body, if there is one
  reopen,
  edit,          ///< gives the issue the message's title and body
  umbrella,      ///< an issue that lists incidents beyond a comparison's cap
  digest,        ///< an issue about improvements
  reply,         ///< answers a comment with a command
  pull_comment,  ///< on a pull request
  status,        ///< of a commit
  check,         ///< a check run of a commit
  dispatch,      ///< starts a workflow
  webhook,       ///< to another service
  mail
};
enum class OutboxState { pending, sending, sent, dead };

struct OutboxRow {
  std::string key;  ///< unique; becomes the hidden marker in the issue's text
  Id incident = 0;  ///< 0: it is about an alarm, or about neither
  OutboxKind kind = OutboxKind::open;
  /// Where it goes ("pull/17", "commit/5d1c..."); empty: the issue of its incident or alarm.
  std::string target = {};
  std::string title;
  std::string body;
  std::string digest;  ///< SHA-256 of title and body, checked on read
  OutboxState state = OutboxState::pending;
  int tries = 0;              ///< failures of the message itself
  int failures = 0;           ///< in a row, for whatever reason
  WallMillis not_before = 0;  ///< when it is due again; of one that was given up when that was
  std::optional<std::int64_t> issue_number;
  std::string answer = {};  ///< what an edit of it needs later: the id that it got
  /// owner/name where its issue or its comment is; empty: not known yet.
  std::string repository = {};
  std::string last_error;
  Id id = 0;
};

/// What became of a delivery that failed.
struct OutboxFailure {
  std::string error = {};
  int tries = 0;
  int failures = 0;
  WallMillis not_before = 0;
  bool give_up = false;
};

enum class RequestKind { nightly, bisection, fetch };
enum class RequestState { pending, running, done, refused, failed, cancelled };

/// Work requested over HTTP. `delivery` is unique: repeating one changes nothing.
struct RequestRow {
  Id id = 0;
  std::string delivery;
  RequestKind kind = RequestKind::nightly;
  RequestState state = RequestState::pending;
  std::string body_json;
  std::string result_json;
  Asker asked_by;
  WallMillis created_at = 0;
};

/// The kinds of items of work: the channel's list, the fetch of a build, and what is carried out.
enum class ItemKind { channel, build, comparison, bisection, request, source };

/// An item of work: `item` is its id, or its name where it has none.
struct ItemKey {
  ItemKind kind = ItemKind::comparison;
  std::string item;
  auto operator<=>(const ItemKey&) const = default;
};

/// Returns whether such an item is a part of the service, which has no end and is never given up.
constexpr bool is_of_service(ItemKind kind) {
  return kind == ItemKind::channel || kind == ItemKind::source;
}

/// What an item that has not ended waits for.
struct SetbackRow {
  ItemKey key;
  int tries = 0;     ///< how often the item's own work failed
  int setbacks = 1;  ///< how often it was put off since it last went on
  WallMillis since = 0;
  WallMillis not_before = 0;
  std::string error = {};
};

// Every word has one spelling, the same in SQL, JSON and pages.
std::string_view to_string(BuildOrigin);
std::string_view to_string(BuildState);
std::string_view to_string(Purpose);
std::string_view to_string(ComparisonState);
std::string_view to_string(AttemptState);
std::string_view to_string(IncidentState);
std::string_view to_string(DecisionKind);
std::string_view to_string(BisectionState);
std::string_view to_string(OutboxKind);
std::string_view to_string(OutboxState);
std::string_view to_string(RequestKind);
std::string_view to_string(RequestState);
std::string_view to_string(ItemKind);

}  // namespace torchwatch::storage
