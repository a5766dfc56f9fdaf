#pragma once

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Work asked for from outside (HTTP), done in order.
class RequestStore {
 public:
  explicit RequestStore(Database& database) : database_(database) {}

  /// Returns the request and whether it is new (a repeated delivery is the old one).
  Result<std::pair<RequestRow, bool>> received(const std::string& delivery, RequestKind,
                                               const std::string& body_json, WallMillis now);
  /// The oldest pending request, now running; leftovers that were running count as pending after
  /// `reopened()`.
  Result<std::optional<RequestRow>> taken();
  Status reopened();
  Status answered(Id, RequestState, const std::string& result_json);
  Result<RequestRow> get(Id);
  Result<std::vector<RequestRow>> list(int limit, Id before = INT64_MAX);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
