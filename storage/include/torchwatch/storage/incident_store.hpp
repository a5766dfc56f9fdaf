#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Incidents, and what people decide about them. Thread-safe as Database is.
class IncidentStore {
 public:
  explicit IncidentStore(Database& database) : database_(database) {}

  /// Opens an incident with its series. Errors: conflict when the key is open already.
  Result<IncidentRow> open(const IncidentRow&);
  /// Returns the open or acknowledged incident with that key.
  Result<std::optional<IncidentRow>> find_open(const std::string& key);
  Status attach_bisection(Id incident, Id bisection);
  Status set_title(Id incident, const std::string& title);
  /// Notes why the incident has no issue of its own; empty: it has one. Call in the transaction
  /// that decides it.
  Status set_unfiled(Id incident, const std::string& reason);
  /// Notes that a later comparison found the open incident again; once is enough.
  Status add_recurrence(Id incident, Id comparison);
  /// The comparisons that found the incident again, in the order of their ids.
  Result<std::vector<Id>> recurrences_of(Id incident);
  // A decision changes the incident's state, and is kept with who made it and why. Errors:
  // not_found, conflict (the state does not admit it).
  Status acknowledge(Id incident, const Decision&);
  Status close(Id incident, const Decision&);
  /// Closes the incident as a change that stays.
  Status accept(Id incident, const Decision&);
  /// Opens a closed or acknowledged incident again; it is not accepted any more. Errors: also
  /// conflict, when its key has an open incident.
  Status reopen(Id incident, const Decision&);
  /// Keeps that the commit which an open incident names is held for the wrong one.
  Status dispute(Id incident, const Decision&);
  /// Makes the decision of that kind.
  Status decide(Id incident, DecisionKind, const Decision&);
  Result<IncidentRow> get(Id);
  Result<std::vector<IncidentRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  Result<std::vector<IncidentRow>> unclosed();                              ///< newest first
  Result<std::vector<IncidentRow>> of_comparison(Id comparison);
  Result<std::vector<IncidentRow>> of_series(const Series&);  ///< oldest first
  /// Returns the incidents of earlier comparisons that `comparison` found again.
  Result<std::vector<IncidentRow>> found_again_by(Id comparison);

 private:
  Database& database_;
};

/// Returns the greatest number of an issue that an incident has.
Result<std::optional<std::int64_t>> newest_issue(Database&);

}  // namespace torchwatch::storage
