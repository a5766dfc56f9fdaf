#include "torchwatch/outbox/outbox_store.hpp"

#include <algorithm>

#include "messages.hpp"
#include "query.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT key, incident_id, kind, target, title, body, digest, state, tries, failures, "
    "not_before, issue_number, answer, repository, last_error, id FROM outbox ";

/// No message waits longer: one that does was stored by a clock that was ahead.
constexpr WallMillis kPauseMax = 2LL * 24 * 3600 * 1000;

OutboxRow row_of(Query& row) {
  return OutboxRow{.key = row.take<std::string>(),
                   .incident = row.take<std::optional<Id>>().value_or(0),
                   .kind = row.take<OutboxKind>(),
                   .target = row.take<std::string>(),
                   .title = row.take<std::string>(),
                   .body = row.take<std::string>(),
                   .digest = row.take<std::string>(),
                   .state = row.take<OutboxState>(),
                   .tries = row.take<int>(),
                   .failures = row.take<int>(),
                   .not_before = row.take<WallMillis>(),
                   .issue_number = row.take<std::optional<std::int64_t>>(),
                   .answer = row.take<std::string>(),
                   .repository = row.take<std::string>(),
                   .last_error = row.take<std::string>(),
                   .id = row.take<Id>()};
}

FiledIn filed_in_of(Query& row) {
  return {.repository = row.take<std::string>(), .issues = row.take<int>()};
}

std::string digest_of(const OutboxRow& row) {
  return digest::sha256_hex(row.title + "\n" + row.body);
}

Status check_digest(const OutboxRow& row) {
  if (digest_of(row) == row.digest) return {};
  return fail(ErrorCode::corrupt,
              "message " + row.key + " does not match its digest: the stored text is damaged",
              "restore a backup");
}

Result<std::vector<OutboxRow>> checked_rows(Query query) {
  TW_TRY(auto rows, all_rows(std::move(query), row_of));
  for (const auto& row : rows) TW_TRY_VOID(check_digest(row));
  return rows;
}

/// The same, with those whose text is damaged, which say so in place of their last error.
Result<std::vector<OutboxRow>> marked_rows(Query query) {
  TW_TRY(auto rows, all_rows(std::move(query), row_of));
  for (auto& row : rows) {
    const auto whole = check_digest(row);
    if (!whole) row.last_error = whole.error().text();
  }
  return rows;
}

Result<OutboxRow> message_of(Connection& connection, const std::string& key) {
  TW_TRY(auto rows, checked_rows(Query(connection, kSelect + "WHERE key = ?", key)));
  if (!rows.empty()) return std::move(rows.front());
  return fail(ErrorCode::not_found, "message " + key + " is not in the outbox",
              "`torchwatch outbox list` lists them");
}

/// Checks an update that was guarded by the message's state.
Result<OutboxRow> moved(Connection& connection, const std::string& key, int changed,
                        OutboxState expected) {
  TW_TRY(auto row, message_of(connection, key));
  if (changed == 1) return row;
  return fail(ErrorCode::conflict, "message " + key + " is " + std::string(to_string(row.state)) +
                                       ", not " + std::string(to_string(expected)) +
                                       ": another sender moved it on");
}

/// Admits messages of those kinds alone. Their words are the program's own.
std::string among(const std::vector<OutboxKind>& kinds) {
  if (kinds.empty()) return "";
  std::string words;
  for (const auto kind : kinds) {
    words += (words.empty() ? "'" : ", '") + std::string(to_string(kind)) + "'";
  }
  return "AND kind IN (" + words + ") ";
}

/// A message goes with all that are about the same incident or the same alarm, and go to the same
/// place.
const std::string kSameSubject =
    "e.incident_id IS o.incident_id AND e.alarm_id IS o.alarm_id AND e.target = o.target ";

/// What names an incident's issue elsewhere, or changes who it is assigned to, waits for it.
const std::string kHasItsIssue =
    "AND (o.incident_id IS NULL OR o.target = '' OR o.kind NOT IN ('pull_comment', 'edit') "
    "OR EXISTS ("
    "SELECT 1 FROM outbox AS i WHERE i.incident_id = o.incident_id AND i.target = '' "
    "AND i.kind = 'open' AND i.state = 'sent')) ";

/// Admits what goes to the repository ?3. A number means another issue elsewhere, so what follows
/// an issue or a reply of another repository waits until that is the configured one again.
const std::string kIsOfRepository =
    "AND (?3 = '' OR NOT EXISTS (SELECT 1 FROM outbox AS i WHERE i.incident_id IS o.incident_id "
    "AND i.alarm_id IS o.alarm_id "
    "AND i.target IN (o.target, iif(o.kind = 'reply', o.target, '')) AND i.id <= o.id "
    "AND i.repository <> '' AND i.repository <> ?3)) ";

/// When an incident has been over for so long, its issue would tell of the past.
constexpr WallMillis kOverFor = 24LL * 3600 * 1000;

/// The message that next_due returns, if its text is whole.
Result<std::optional<OutboxRow>> first_due(Database& database, WallMillis now,
                                           const std::vector<OutboxKind>& kinds,
                                           const std::string& repository) {
  return read(database, [&](Connection& connection) {
    // A message waits for the earlier ones of its incident. Once its `open` is dead there is no
    // issue to comment on. What failed before comes after what did not: a refusal that looks like
    // one of everything may be of this message alone.
    return first_row(
        Query(connection,
              kSelect +
                  "AS o WHERE state IN ('pending', 'sending') "
                  "AND (state = 'sending' OR not_before <= ?1 OR not_before > ?1 + ?2) " +
                  among(kinds) +
                  "AND NOT EXISTS ("
                  "SELECT 1 FROM outbox AS e WHERE " +
                  kSameSubject +
                  "AND e.id < o.id "
                  "AND (e.state IN ('pending', 'sending') OR (e.state = 'dead' AND e.kind = "
                  "'open'))) " +
                  kHasItsIssue + kIsOfRepository + "ORDER BY failures, id LIMIT 1",
              now, kPauseMax, repository),
        row_of);
  });
}

/// What is damaged is never sent, and keeps nothing else from being sent.
Status give_up(Database& database, const OutboxRow& row, const Error& damage) {
  return write(database, [&](Connection& connection) -> Status {
    execute(connection,
            "UPDATE outbox SET state = 'dead', last_error = ? "
            "WHERE id = ? AND state IN ('pending', 'sending')",
            damage.text(), row.id);
    return {};
  });
}

}  // namespace

void insert_message(Connection& connection, const std::string& key, OutboxKind kind,
                    std::optional<Id> incident, std::optional<Id> alarm, const OutboxRow& row) {
  execute(
      connection,
      "INSERT INTO outbox (key, incident_id, alarm_id, kind, target, title, body, digest, state, "
      "not_before, repository) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "
      // Nothing is said to an issue that was deleted or moved.
      "WHERE NOT EXISTS (SELECT 1 FROM incident WHERE id = ? AND issue_gone <> '') "
      "ON CONFLICT (key) DO NOTHING",
      key, incident, alarm, kind, row.target, row.title, row.body, digest_of(row),
      OutboxState::pending, row.not_before, row.repository, incident);
}

Status OutboxStore::queue(const OutboxRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    const auto incident = row.incident > 0 ? std::optional(row.incident) : std::nullopt;
    insert_message(connection, row.key, row.kind, incident, {}, row);
    return {};
  });
}

Result<std::optional<OutboxRow>> OutboxStore::next_due(WallMillis now,
                                                       const std::vector<OutboxKind>& kinds,
                                                       const std::string& repository) {
  while (true) {
    TW_TRY(auto row, first_due(database_, now, kinds, repository));
    if (!row) return std::nullopt;
    const auto whole = check_digest(*row);
    if (whole) return row;
    TW_TRY_VOID(give_up(database_, *row, whole.error()));
  }
}

Result<OutboxRow> OutboxStore::mark_sending(const std::string& key) {
  return write(database_, [&](Connection& connection) {
    const int changed = execute(connection,
                                "UPDATE outbox SET state = 'sending' "
                                "WHERE key = ? AND state = 'pending'",
                                key);
    return moved(connection, key, changed, OutboxState::pending);
  });
}

Status OutboxStore::mark_sent(const std::string& key, std::optional<std::int64_t> issue_number,
                              WallMillis now, const std::string& answer,
                              const std::string& repository) {
  return write(database_, [&](Connection& connection) -> Status {
    const int changed = execute(connection,
                                "UPDATE outbox SET state = 'sent', issue_number = ?, sent_at = ?, "
                                "answer = ?, repository = ?, last_error = '' "
                                "WHERE key = ? AND state = 'sending'",
                                issue_number, now, answer, repository, key);
    TW_TRY(const auto row, moved(connection, key, changed, OutboxState::sending));
    if (row.kind == OutboxKind::open) {
      execute(connection, "UPDATE incident SET issue_number = ? WHERE id = ?", issue_number,
              row.incident);
      execute(connection,
              "UPDATE alarm SET issue_number = ? "
              "WHERE id = (SELECT alarm_id FROM outbox WHERE key = ?)",
              issue_number, key);
    }
    return {};
  });
}

Status OutboxStore::record_failure(const std::string& key, const OutboxFailure& failure) {
  return write(database_, [&](Connection& connection) -> Status {
    const auto state = failure.give_up ? OutboxState::dead : OutboxState::pending;
    const int changed =
        execute(connection,
                "UPDATE outbox SET state = ?, last_error = ?, tries = ?, "
                "failures = ?, not_before = ? WHERE key = ? AND state = 'sending'",
                state, failure.error, failure.tries, failure.failures, failure.not_before, key);
    TW_TRY_VOID(moved(connection, key, changed, OutboxState::sending));
    return {};
  });
}

Result<OutboxRow> OutboxStore::retry(const std::string& key) {
  return write(database_, [&](Connection& connection) -> Result<OutboxRow> {
    const int changed = execute(connection,
                                "UPDATE outbox SET state = 'pending', tries = 0, failures = 0, "
                                "not_before = 0, failing_since = NULL "
                                "WHERE key = ? AND state IN ('pending', 'dead')",
                                key);
    TW_TRY(auto row, message_of(connection, key));
    if (changed == 1) return row;
    return fail(ErrorCode::conflict, "message " + key + " is " + std::string(to_string(row.state)) +
                                         ": only one that waits or was given up can be retried");
  });
}

Status OutboxStore::make_due() {
  return write(database_, [](Connection& connection) -> Status {
    // `state <> 'sent'` is what the index of such messages says.
    execute(connection,
            "UPDATE outbox SET failures = 0, not_before = 0 "
            "WHERE state <> 'sent' AND state = 'pending'");
    return {};
  });
}

Result<std::vector<OutboxRow>> OutboxStore::unsent() {
  return read(database_, [](Connection& connection) {
    return marked_rows(Query(connection, kSelect + "WHERE state <> 'sent' ORDER BY id"));
  });
}

Result<OutboxSubject> OutboxStore::subject_of(const std::string& key) {
  return read(database_, [&](Connection& connection) -> Result<OutboxSubject> {
    OutboxSubject subject;
    Query since(connection,
                "SELECT ifnull(opened_at, raised_at) FROM outbox "
                "LEFT JOIN incident ON incident.id = incident_id "
                "LEFT JOIN alarm ON alarm.id = alarm_id WHERE outbox.key = ?",
                key);
    if (since.next()) subject.since = since.take<WallMillis>();
    TW_TRY(subject.messages,
           marked_rows(Query(connection,
                             "SELECT e.key, e.incident_id, e.kind, e.target, e.title, e.body, "
                             "e.digest, e.state, e.tries, e.failures, e.not_before, "
                             "e.issue_number, e.answer, e.repository, e.last_error, e.id FROM "
                             "outbox AS o JOIN outbox AS e ON " +
                                 kSameSubject + "WHERE o.key = ? ORDER BY e.id",
                             key)));
    const auto own = std::ranges::find(subject.messages, key, &OutboxRow::key);
    if (own != subject.messages.end()) TW_TRY_VOID(check_digest(*own));
    return subject;
  });
}

Result<std::vector<FiledIn>> OutboxStore::filed_in() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT repository, count(*) FROM outbox "
                          "WHERE kind = 'open' AND state = 'sent' "
                          "GROUP BY repository ORDER BY repository"),
                    filed_in_of);
  });
}

Status OutboxStore::move_issues(const std::string& from, const std::string& to) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "UPDATE outbox SET repository = ? WHERE repository = ? "
            "AND (repository <> '' OR (state = 'sent' AND kind IN ('open', 'reply')))",
            to, from);
    return {};
  });
}

Status OutboxStore::leave_out_ended(WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    const std::string untried =
        "SELECT 1 FROM outbox AS o WHERE o.kind = 'open' AND o.state = 'pending' "
        "AND o.failures = 0 AND ";
    execute(connection,
            "UPDATE incident SET unfiled = 'it was over before an issue could be filed' "
            "WHERE closed_at < ? AND EXISTS (" +
                untried + "o.incident_id = incident.id)",
            now - kOverFor);
    execute(connection,
            "DELETE FROM outbox WHERE state <> 'sent' AND state = 'pending' AND (incident_id IN "
            "(SELECT id FROM incident WHERE closed_at < ?1 AND EXISTS (" +
                untried +
                "o.incident_id = incident.id)) OR alarm_id IN "
                "(SELECT id FROM alarm WHERE ended_at < ?1 AND EXISTS (" +
                untried + "o.alarm_id = alarm.id)))",
            now - kOverFor);
    return {};
  });
}

Result<std::vector<OutboxRow>> OutboxStore::of_incident(Id incident) {
  return read(database_, [&](Connection& connection) {
    return checked_rows(Query(connection, kSelect + "WHERE incident_id = ? ORDER BY id", incident));
  });
}

}  // namespace torchwatch::storage
