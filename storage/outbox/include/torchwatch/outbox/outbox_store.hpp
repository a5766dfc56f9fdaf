#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What a message is about: an incident or an alarm.
struct OutboxSubject {
  WallMillis since = 0;               ///< when it was opened
  std::vector<OutboxRow> messages{};  ///< all that are about it, oldest first
};

/// How many issues of incidents and alarms are in a repository.
struct FiledIn {
  std::string repository{};  ///< owner/name; empty: not noted
  int issues = 0;
};

/// The outbox: messages that the issue tracker, or another service, is to get. Thread-safe as
/// Database is.
class OutboxStore {
 public:
  explicit OutboxStore(Database& database) : database_(database) {}

  /// Queues a message about an incident, or one with a target; the same key again changes nothing.
  /// Messages about the same incident that go to the same place keep their order. Call inside the
  /// transaction of the state change that causes it.
  Status queue(const OutboxRow&);
  /// Returns the message that is due and failed least often, the oldest of several. Messages of one
  /// incident keep their order; once its `open` is dead, no later one is due. A comment on a pull
  /// request, and an edit with a target, wait until the incident's issue is there. A message in
  /// state `sending` was left by a process that died, and may have been sent: look its marker up in
  /// the tracker, then call mark_sent or record_failure, not mark_sending.
  /// Only messages of the `kinds` that the sender delivers; empty: of any. With a `repository` only
  /// what does not follow an issue or a reply of another one. A message whose text is damaged is
  /// given up, and the next one returned.
  Result<std::optional<OutboxRow>> next_due(WallMillis now,
                                            const std::vector<OutboxKind>& kinds = {},
                                            const std::string& repository = {});
  /// pending -> sending, committed before the request leaves. Errors: conflict, when another sender
  /// was faster.
  Result<OutboxRow> mark_sending(const std::string& key);
  /// sending -> sent; an `open` also gives its incident the issue's number. Only what has a target
  /// may go without a number, which counts in `repository` alone.
  Status mark_sent(const std::string& key, std::optional<std::int64_t> issue_number, WallMillis now,
                   const std::string& answer = {}, const std::string& repository = {});
  /// sending -> pending with a later date, or dead. `tries` says how many count by now: what the
  /// network, the tracker or the token are to blame for counts for nothing.
  Status record_failure(const std::string& key, const OutboxFailure&);
  Result<std::vector<OutboxRow>> of_incident(Id);
  /// What the message is about. Others that are damaged say so in their `last_error`. Errors:
  /// corrupt (it is damaged itself).
  Result<OutboxSubject> subject_of(const std::string& key);
  Result<std::vector<FiledIn>> filed_in();  ///< where issues are, by name
  /// The repository `from` is called `to`. An empty `from` is that of what was sent without noting
  /// it.
  Status move_issues(const std::string& from, const std::string& to);
  /// Drops the issues, with what follows them, that nobody has tried to file of incidents and
  /// alarms that ended more than a day ago. The incidents say so.
  Status leave_out_ended(WallMillis now);
  /// Returns the pending, sending and dead messages, oldest first; damaged ones as above.
  Result<std::vector<OutboxRow>> unsent();
  /// Makes all waiting messages due at once: what they waited for was mended.
  Status make_due();
  /// Makes a message that was given up, or that waits, due at once. Errors: not_found; conflict,
  /// when it was sent already.
  Result<OutboxRow> retry(const std::string& key);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
