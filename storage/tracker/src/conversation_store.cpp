#include "torchwatch/tracker/conversation_store.hpp"

#include "query.hpp"
#include "received_words.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

const std::string kCommands =
    "SELECT comment, issue, incident_id, login, login_id, name, state, request_id, comparison_id, "
    "bisection_id, said, replies, asked_at FROM command ";

/// Admits incidents whose issue is in that repository, or in one that was not noted.
const std::string kIsIssueOf =
    "AND NOT EXISTS (SELECT 1 FROM outbox WHERE incident_id = incident.id AND kind = 'open' "
    "AND repository NOT IN ('', ?)) ";

CommandRow command_of(Query& row) {
  return CommandRow{.comment = row.take<std::int64_t>(),
                    .issue = row.take<std::int64_t>(),
                    .incident = row.take<std::optional<Id>>(),
                    .login = row.take<std::string>(),
                    .login_id = row.take<std::int64_t>(),
                    .name = row.take<std::string>(),
                    .state = row.take<CommandState>(),
                    .request = row.take<std::optional<Id>>(),
                    .comparison = row.take<std::optional<Id>>(),
                    .bisection = row.take<std::optional<Id>>(),
                    .said = row.take<std::string>(),
                    .replies = row.take<int>(),
                    .asked_at = row.take<WallMillis>()};
}

TrackerEventRow event_of(Query& row) {
  return TrackerEventRow{.id = row.take<std::int64_t>(),
                         .incident = row.take<Id>(),
                         .event = row.take<std::string>(),
                         .login = row.take<std::string>(),
                         .detail = row.take<std::string>(),
                         .happened_at = row.take<WallMillis>()};
}

PollRow poll_row_of(Query& row) {
  return PollRow{.since = row.take<WallMillis>(), .etag = row.take<std::string>()};
}

Id id_of(Query& row) {
  return row.take<Id>();
}

int count_of(Query& row) {
  return row.take<int>();
}

std::string text_of(Query& row) {
  return row.take<std::string>();
}

}  // namespace

std::string_view to_string(CommandState value) {
  return spelling(value);
}

Result<std::optional<Id>> ConversationStore::incident_of_issue(std::int64_t issue,
                                                               const std::string& repository) {
  return read(database_, [&](Connection& connection) {
    return first_row(
        Query(connection,
              "SELECT id FROM incident WHERE issue_number = ? " + kIsIssueOf + "ORDER BY id DESC",
              issue, repository),
        id_of);
  });
}

Result<std::vector<std::int64_t>> ConversationStore::open_issues(const std::string& repository) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT issue_number FROM incident WHERE issue_number IS NOT NULL "
                          "AND state <> 'closed' AND issue_gone = '' " +
                              kIsIssueOf + "ORDER BY id",
                          repository),
                    id_of);
  });
}

Status ConversationStore::mark_gone(Id incident, const std::string& why) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE incident SET issue_gone = ? WHERE id = ?", why, incident);
    execute(connection,
            "DELETE FROM outbox WHERE state <> 'sent' AND state = 'pending' "
            "AND ((incident_id = ?1 "
            "AND (target = '' OR kind = 'edit')) OR (kind = 'reply' AND title = "
            "(SELECT 'issue/' || issue_number FROM incident WHERE id = ?1)))",
            incident);
    return {};
  });
}

Result<std::string> ConversationStore::why_gone(Id incident) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection, "SELECT issue_gone FROM incident WHERE id = ?", incident),
                   text_of, "incident " + std::to_string(incident));
  });
}

Result<bool> ConversationStore::add_event(const TrackerEventRow& row) {
  return write(database_, [&](Connection& connection) -> Result<bool> {
    return execute(connection,
                   "INSERT INTO tracker_event (id, incident_id, event, login, detail, happened_at) "
                   "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                   row.id, row.incident, row.event, row.login, row.detail, row.happened_at) == 1;
  });
}

Result<std::vector<TrackerEventRow>> ConversationStore::events_of(Id incident) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT id, incident_id, event, login, detail, happened_at "
                          "FROM tracker_event WHERE incident_id = ? ORDER BY id",
                          incident),
                    event_of);
  });
}

Result<std::optional<CommandRow>> ConversationStore::find_command(std::int64_t comment) {
  return read(database_, [&](Connection& connection) {
    return first_row(Query(connection, kCommands + "WHERE comment = ?", comment), command_of);
  });
}

Status ConversationStore::add_command(const CommandRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    const int added =
        execute(connection,
                "INSERT INTO command (comment, issue, incident_id, login, login_id, name, state, "
                "request_id, comparison_id, bisection_id, said, replies, asked_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (comment) DO NOTHING",
                row.comment, row.issue, row.incident, row.login, row.login_id, row.name, row.state,
                row.request, row.comparison, row.bisection, row.said, row.replies, row.asked_at);
    if (added == 1) return {};
    return fail(ErrorCode::conflict,
                "comment " + std::to_string(row.comment) + " was answered already");
  });
}

Status ConversationStore::update_command(const CommandRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "UPDATE command SET state = ?, request_id = ?, comparison_id = ?, bisection_id = ?, "
            "said = ?, replies = ? WHERE comment = ?",
            row.state, row.request, row.comparison, row.bisection, row.said, row.replies,
            row.comment);
    return {};
  });
}

Result<std::vector<CommandRow>> ConversationStore::waiting_commands() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kCommands + "WHERE state = 'waiting' ORDER BY comment"),
                    command_of);
  });
}

Result<std::vector<CommandRow>> ConversationStore::commands_of(std::int64_t issue) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection, kCommands + "WHERE issue = ? ORDER BY comment", issue),
                    command_of);
  });
}

Result<int> ConversationStore::costly_since(WallMillis since,
                                            std::optional<std::int64_t> login_id) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection,
                         "SELECT count(*) FROM command WHERE asked_at > ? "
                         "AND (request_id IS NOT NULL OR comparison_id IS NOT NULL "
                         "OR bisection_id IS NOT NULL) AND (? IS NULL OR login_id = ?)",
                         since, login_id, login_id),
                   count_of, "the number of commands");
  });
}

Result<std::optional<PollRow>> ConversationStore::poll_of(const std::string& list) {
  return read(database_, [&](Connection& connection) {
    return first_row(Query(connection, "SELECT since, etag FROM poll WHERE list = ?", list),
                     poll_row_of);
  });
}

Status ConversationStore::set_poll(const std::string& list, const PollRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "INSERT INTO poll (list, since, etag) VALUES (?, ?, ?) "
            "ON CONFLICT (list) DO UPDATE SET since = excluded.since, etag = excluded.etag",
            list, row.since, row.etag);
    return {};
  });
}

}  // namespace torchwatch::storage
