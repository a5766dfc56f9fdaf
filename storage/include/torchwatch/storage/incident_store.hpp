#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What a message is about: an incident or an alarm.
struct OutboxSubject {
  WallMillis since = 0;               ///< when it was opened
  std::vector<OutboxRow> messages{};  ///< all that are about it, oldest first
};

/// Incidents and the outbox of messages about them and about alarms. Thread-safe as Database is.
class IncidentStore {
 public:
  explicit IncidentStore(Database& database) : database_(database) {}

  /// Opens an incident with its series. Errors: conflict when the key is open already.
  Result<IncidentRow> open(const IncidentRow&);
  /// Returns the open or acknowledged incident with that key.
  Result<std::optional<IncidentRow>> find_open(const std::string& key);
  Status attach_bisection(Id incident, Id bisection);
  Status set_title(Id incident, const std::string& title);
  /// Notes that a later comparison found the open incident again.
  Status add_recurrence(Id incident, Id comparison);
  /// The comparisons that found the incident again, in the order of their ids.
  Result<std::vector<Id>> recurrences_of(Id incident);
  // A decision changes the incident's state, and is kept with who made it and why. Errors:
  // not_found, conflict (the state does not admit it).
  Status acknowledge(Id incident, const Decision&);
  Status close(Id incident, const Decision&);
  /// Closes the incident as a change that stays.
  Status accept(Id incident, const Decision&);
  /// Opens a closed incident again; it is not accepted any more. Errors: also conflict, when its
  /// key has an open incident.
  Status reopen(Id incident, const Decision&);
  /// Keeps that the commit which an open incident names is held for the wrong one.
  Status dispute(Id incident, const Decision&);
  /// Makes the decision of that kind.
  Status decide(Id incident, DecisionKind, const Decision&);
  Result<IncidentRow> get(Id);
  Result<std::vector<IncidentRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  Result<std::vector<IncidentRow>> of_comparison(Id comparison);
  /// Returns the incidents of earlier comparisons that `comparison` found again.
  Result<std::vector<IncidentRow>> found_again_by(Id comparison);

  /// Queues a message; the same key again changes nothing. Call inside the transaction of the
  /// state change that causes it.
  Status queue(const OutboxRow&);
  /// Returns the oldest message that is due. Messages of one incident keep their order; once its
  /// `open` is dead, no later one is due. A message in state `sending` was left by a process that
  /// died, and may have been sent: look its marker up in the tracker, then call mark_sent or
  /// record_failure, not mark_sending.
  Result<std::optional<OutboxRow>> next_due(WallMillis now);
  /// pending -> sending, committed before the request leaves. Errors: conflict, when another sender
  /// was faster.
  Result<OutboxRow> mark_sending(const std::string& key);
  /// sending -> sent; an `open` also gives its incident the issue's number.
  Status mark_sent(const std::string& key, std::int64_t issue_number, WallMillis now);
  /// sending -> pending with a later date, or dead. `tries` says how many count by now: what the
  /// network, the tracker or the token are to blame for counts for nothing.
  Status record_failure(const std::string& key, const OutboxFailure&);
  Result<std::vector<OutboxRow>> outbox_of(Id incident);
  Result<OutboxSubject> subject_of(const std::string& key);
  Result<std::vector<OutboxRow>> unsent();  ///< pending, sending and dead messages, oldest first
  /// Makes all waiting messages due at once: what they waited for was mended.
  Status make_due();
  /// Makes a message that was given up, or that waits, due at once. Errors: not_found; conflict,
  /// when it was sent already.
  Result<OutboxRow> retry(const std::string& key);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
