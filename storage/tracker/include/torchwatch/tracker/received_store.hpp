#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What a received item is about.
enum class ReceivedKind { issue, comment };
enum class ReceivedState { pending, done, refused, failed };

/// Something that came from the issue tracker.
struct ReceivedRow {
  Id id = 0;
  std::string delivery = {};  ///< unique: the same again changes nothing
  ReceivedKind kind = ReceivedKind::issue;
  std::string action = {};  ///< the tracker's word: "closed", "created"; "seen" of what polling saw
  std::int64_t issue = 0;
  std::string body_json = {};  ///< opaque to storage
  ReceivedState state = ReceivedState::pending;
  std::string result = {};  ///< what it came to, in a sentence
  // What it waits for while it is pending.
  int tries = 0;     ///< how often its own work failed
  int setbacks = 0;  ///< how often it was put off
  WallMillis not_before = 0;
  std::string error = {};
  WallMillis received_at = 0;
};

std::string_view to_string(ReceivedKind);
std::string_view to_string(ReceivedState);

/// What came from the issue tracker, worked off in order. Thread-safe as Database is.
class ReceivedStore {
 public:
  explicit ReceivedStore(Database& database) : database_(database) {}

  /// Stores what arrived; false if its delivery was received before.
  Result<bool> receive(const ReceivedRow&);
  Result<std::vector<ReceivedRow>> pending();  ///< oldest first
  Result<ReceivedRow> get(Id);
  /// Notes that it is worked on from now on, until it is put off or ended.
  Status begin(Id);
  /// Stores what it waits for.
  Status put_off(const ReceivedRow&);
  /// Returns those that an earlier process worked on when it died. Call at start.
  Result<std::vector<ReceivedRow>> left_under_way();
  /// Ends one that is pending, and forgets its body; does nothing to one that has ended.
  Status end(Id, ReceivedState, const std::string& result);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
