#pragma once

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Incidents and the outbox of what shall be said about them.
class IncidentStore {
 public:
  explicit IncidentStore(Database& database) : database_(database) {}

  /// Opens an incident with its targets. Errors: conflict when the key is open already.
  Result<IncidentRow> opened(const IncidentRow&);
  /// The open or acknowledged incident with that key.
  Result<std::optional<IncidentRow>> find_open(const std::string& key);
  Status attached(Id incident, Id bisection);
  Status acknowledged(Id incident);
  Status closed(Id incident, WallMillis now);
  /// Closes it as something that stays; who and why are kept.
  Status accepted(Id incident, const Acceptance&);
  Result<IncidentRow> get(Id);
  Result<std::vector<IncidentRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  Result<std::vector<IncidentRow>> of_night(Id night);

  /// Queues a message; the same key again changes nothing. Call inside the transaction of the
  /// state change that causes it.
  Status queued(const OutboxRow&);
  /// The oldest message that is due; messages of one incident keep their order, and behind a dead
  /// `open` none is due. One found in state `sending` was left by a process that died: whether it
  /// was sent is unknown, so look its marker up, then call sent or send_failed (not sending).
  Result<std::optional<OutboxRow>> next_due(WallMillis now);
  /// pending -> sending (committed before the request leaves). conflict when somebody else did.
  Result<OutboxRow> sending(const std::string& key);
  /// sending -> sent; for `open` also notes the issue's number at the incident.
  Status sent(const std::string& key, std::int64_t issue_number);
  /// sending -> pending with a later date, or dead.
  Status send_failed(const std::string& key, const std::string& error, WallMillis not_before,
                     bool give_up);
  Result<std::vector<OutboxRow>> outbox_of(Id incident);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
