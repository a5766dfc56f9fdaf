#pragma once

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Work requested over HTTP, done in order. Thread-safe as Database is.
class RequestStore {
 public:
  explicit RequestStore(Database& database) : database_(database) {}

  /// Returns the request and whether it is new; a repeated delivery returns the earlier request.
  Result<std::pair<RequestRow, bool>> receive(const std::string& delivery, RequestKind,
                                              const std::string& body_json, WallMillis now);
  /// Marks the oldest pending request as running and returns it.
  Result<std::optional<RequestRow>> claim_next();
  /// Makes the requests pending again that an earlier process left running. Call at start.
  Status reopen();
  /// Ends a running request as done or failed. Errors: invalid (another state), conflict (it is not
  /// running).
  Status answer(Id, RequestState, const std::string& result_json);
  Result<RequestRow> get(Id);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
