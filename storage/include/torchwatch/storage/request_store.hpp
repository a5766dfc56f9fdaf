#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Returns whether a request in that state has ended.
bool is_end(RequestState);

/// Work requested over HTTP, done in order. Thread-safe as Database is.
class RequestStore {
 public:
  explicit RequestStore(Database& database) : database_(database) {}

  /// Returns the request and whether it is new; a repeated delivery returns the earlier request.
  Result<std::pair<RequestRow, bool>> receive(const std::string& delivery, RequestKind,
                                              const std::string& body_json, WallMillis now,
                                              const Asker& asked_by = {});
  Result<std::vector<RequestRow>> with_state(RequestState);  ///< oldest first
  /// pending -> running. Errors: conflict, when it is not pending any more.
  Result<RequestRow> claim(Id);
  /// running -> pending, when it was interrupted or put off.
  Status reopen(Id);
  /// Keeps what a request has opened so far, for when it is put off or interrupted. Errors:
  /// conflict, when it has ended.
  Status note(Id, const std::string& result_json);
  /// Ends a request that has not ended. Errors: invalid (not an end), conflict (it has ended).
  Status answer(Id, RequestState, const std::string& result_json);
  Result<RequestRow> get(Id);
  Result<std::vector<RequestRow>> list(int limit, Id before = INT64_MAX);  ///< newest first

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
