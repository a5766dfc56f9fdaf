#pragma once

#include <map>
#include <string_view>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Begins the error of a message that waits by itself, for a right of the token: others are sent.
inline constexpr std::string_view kWaitsAlone = "others are sent meanwhile: ";

/// Returns whether the message waits so.
inline bool waits_alone(const OutboxRow& message) {
  return message.state != OutboxState::dead && message.last_error.starts_with(kWaitsAlone);
}

/// Since when messages of the outbox fail. What is referred to must outlive it.
class OutboxWaits {
 public:
  explicit OutboxWaits(Database& database) : database_(database) {}

  /// Notes that those which have failed, and were not known to, fail since then. To be called after
  /// each round of deliveries; where nothing can be delivered at all, all that wait fail.
  Status note(WallMillis now, bool can_deliver = true);
  /// Returns since when each message fails that was not sent, by its id.
  Result<std::map<Id, WallMillis>> since();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
