#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Something that was done to an issue of ours, as the tracker lists it.
struct TrackerEventRow {
  std::int64_t id = 0;  ///< the tracker's own
  Id incident = 0;
  std::string event = {};   ///< the tracker's word: "closed", "labeled", "renamed"
  std::string login = {};   ///< of who did it; empty where the tracker does not say
  std::string detail = {};  ///< the label, the new title, the reason of a closing
  WallMillis happened_at = 0;
};

enum class CommandState { waiting, ended, refused };

/// A comment with a command, and what became of it.
struct CommandRow {
  std::int64_t comment = 0;  ///< the tracker's id
  std::int64_t issue = 0;
  std::optional<Id> incident = {};
  std::string login = {};
  std::int64_t login_id = 0;
  std::string name = {};  ///< "bisect"; "outsider" or "mistake" where there was none to carry out
  CommandState state = CommandState::ended;
  // What it asked for that may not have ended.
  std::optional<Id> request = {};
  std::optional<Id> comparison = {};
  std::optional<Id> bisection = {};
  std::string said = {};  ///< what the reply says now
  int replies = 0;        ///< messages about it so far
  WallMillis asked_at = 0;
};

/// Up to when one of the tracker's lists was read.
struct PollRow {
  WallMillis since = 0;
  std::string etag = {};  ///< of the newest answer; empty: ask for all
};

std::string_view to_string(CommandState);

/// What people say and do in the issue tracker. Thread-safe as Database is.
class ConversationStore {
 public:
  explicit ConversationStore(Database& database) : database_(database) {}

  /// Returns the incident whose issue has that number in that repository; the newest of several.
  Result<std::optional<Id>> incident_of_issue(std::int64_t issue, const std::string& repository);
  /// Returns the numbers of the issues there of incidents that are not closed, and not gone.
  Result<std::vector<std::int64_t>> open_issues(const std::string& repository);
  /// Notes why nothing more can be sent to an incident's issue; what waits for it is dropped, the
  /// replies to comments there among it.
  Status mark_gone(Id incident, const std::string& why);
  Result<std::string> why_gone(Id incident);  ///< empty: it is there

  /// Keeps an event; false if it is kept already.
  Result<bool> add_event(const TrackerEventRow&);
  Result<std::vector<TrackerEventRow>> events_of(Id incident);  ///< oldest first

  Result<std::optional<CommandRow>> find_command(std::int64_t comment);
  /// Errors: conflict, when the comment has one.
  Status add_command(const CommandRow&);
  /// Stores its state, what it says and how many replies there are.
  Status update_command(const CommandRow&);
  Result<std::vector<CommandRow>> waiting_commands();  ///< oldest first
  Result<std::vector<CommandRow>> commands_of(std::int64_t issue);
  /// Counts commands that cost measurements since then: of a user, or of everybody.
  Result<int> costly_since(WallMillis since, std::optional<std::int64_t> login_id);

  Result<std::optional<PollRow>> poll_of(const std::string& list);
  Status set_poll(const std::string& list, const PollRow&);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
