#include "issue_changes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/records/asker.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/triage/decisions.hpp"

namespace torchwatch::conversation {
namespace {

using storage::DecisionKind;

constexpr std::size_t kReasonMax = 500;
/// GitHub's lists may lag behind its webhooks; the clocks may differ.
constexpr platform::WallMillis kListedWithin = 3'600'000;
constexpr platform::WallMillis kClockDoubt = 60'000;
constexpr std::array kKept{"closed",      "reopened",           "labeled", "unlabeled", "renamed",
                           "transferred", "marked_as_duplicate"};

bool is_kept(const IssueEvent& event) {
  return event.id > 0 && std::ranges::find(kKept, event.event) != kKept.end();
}

/// What of an issue is read back, and what it is decided with.
struct Reading {
  comparison::Services& services;
  const TrackerReader& reader;
  const std::string& own_login;
  storage::Id incident = 0;
  std::int64_t issue = 0;
  IssueNow now;
};

storage::Decision decision_of(const std::string& login, std::string reason) {
  const auto by = login.empty() ? std::string("somebody on GitHub") : login;
  return {
      .by = by, .reason = std::move(reason), .at = 0, .asked_by = to_string(github_user(login))};
}

/// Makes the decision, unless the incident is so already.
Status decide(comparison::Services& services, storage::Id id, DecisionKind kind,
              const storage::Decision& decision) {
  TW_TRY(const auto incident, storage::IncidentStore(services.database).get(id));
  const bool is_open = incident.state == storage::IncidentState::open;
  const bool is_closed = incident.state == storage::IncidentState::closed;
  const bool is_so = kind == DecisionKind::reopened       ? is_open
                     : kind == DecisionKind::acknowledged ? !is_open
                                                          : is_closed;
  if (is_so) return {};
  const auto made = triage::decide_incident(services, id, kind, decision, triage::Telling::nowhere);
  const bool is_superseded = !made && made.error().code == ErrorCode::conflict;
  return is_superseded ? Status{} : made;
}

/// A closing is decided on after the comparison that found the change has ended.
Status require_ended(const Reading& reading) {
  auto& database = reading.services.database;
  TW_TRY(const auto incident, storage::IncidentStore(database).get(reading.incident));
  TW_TRY(const auto comparison, storage::ComparisonStore(database).get(incident.comparison));
  if (is_end(comparison.state)) return {};
  return fail(ErrorCode::unavailable, "its comparison " + std::to_string(comparison.id) +
                                          " is carried out again and has not ended");
}

Result<std::string> words_of_closer(const Reading& reading, const std::string& login) {
  TW_TRY(const auto text, reading.reader.last_comment_of(reading.issue, login));
  return report::clean(text, kReasonMax);
}

struct Meaning {
  DecisionKind kind = DecisionKind::closed;
  std::string reason;
};

Result<Meaning> meaning_of_closing(const Reading& reading, const IssueEvent& event) {
  const auto& said = event.state_reason.empty() ? reading.now.state_reason : event.state_reason;
  if (said != "not_planned" && said != "duplicate") {
    return Meaning{DecisionKind::closed, "closed as completed on GitHub"};
  }
  TW_TRY(auto words, words_of_closer(reading, event.actor.login));
  if (said == "not_planned") {
    if (words.empty()) words = "closed as not planned on GitHub, without a comment";
    return Meaning{DecisionKind::accepted, std::move(words)};
  }
  return Meaning{DecisionKind::acknowledged,
                 "closed as a duplicate: " + (words.empty() ? reading.now.link : words)};
}

Result<std::optional<Meaning>> meaning_of(const Reading& reading, const IssueEvent& event) {
  if (event.event == "reopened") return Meaning{DecisionKind::reopened, "reopened on GitHub"};
  if (event.event != "closed") return std::nullopt;
  TW_TRY_VOID(require_ended(reading));
  return meaning_of_closing(reading, event);
}

bool is_of_people(const Reading& reading, const IssueEvent& event) {
  return !event.actor.is_program &&
         (reading.own_login.empty() || event.actor.login != reading.own_login);
}

Status take(const Reading& reading, const IssueEvent& event) {
  std::optional<Meaning> meaning;
  if (is_of_people(reading, event)) {
    TW_TRY(meaning, meaning_of(reading, event));
  }
  const storage::TrackerEventRow row{
      .id = event.id,
      .incident = reading.incident,
      .event = event.event,
      .login = event.actor.login,
      .detail = report::clean(event.detail.empty() ? event.state_reason : event.detail, kReasonMax),
      .happened_at = event.at};
  return reading.services.database.transact([&]() -> Status {
    storage::ConversationStore store(reading.services.database);
    TW_TRY(const bool is_new, store.add_event(row));
    if (!is_new || !meaning) return {};
    return decide(reading.services, reading.incident, meaning->kind,
                  decision_of(event.actor.login, meaning->reason));
  });
}

/// Nothing more is sent to an issue that is gone; the incident stays known.
Status note_gone(const Reading& reading, const std::string& why) {
  return reading.services.database.transact([&]() -> Status {
    storage::ConversationStore store(reading.services.database);
    TW_TRY_VOID(decide(reading.services, reading.incident, DecisionKind::acknowledged,
                       decision_of("", why)));
    return store.mark_gone(reading.incident, why);
  });
}

/// Whether the list has what was received, or is not expected to any more.
bool is_listed(const storage::ReceivedRow& row, const std::vector<IssueEvent>& events,
               platform::WallMillis now) {
  if (row.action != "closed" && row.action != "reopened") return true;
  if (now > row.received_at + kListedWithin) return true;
  const auto body = nlohmann::json::parse(row.body_json, nullptr, false);
  const auto at = platform::parse_iso_utc(text_of(body, "at")).value_or(0);
  return std::ranges::any_of(events, [&](const IssueEvent& event) {
    return event.event == row.action && event.at >= at - kClockDoubt;
  });
}

Result<std::string> read_events(const Reading& reading, const storage::ReceivedRow& row) {
  TW_TRY(const auto events, reading.reader.events(reading.issue));
  storage::ConversationStore store(reading.services.database);
  TW_TRY(const auto known, store.events_of(reading.incident));
  int taken = 0;
  for (const auto& event : events) {
    const bool is_known =
        std::ranges::find(known, event.id, &storage::TrackerEventRow::id) != known.end();
    if (is_known || !is_kept(event)) continue;
    TW_TRY_VOID(take(reading, event));
    ++taken;
  }
  if (!is_listed(row, events, reading.services.clock.wall_now())) {
    return fail(ErrorCode::unavailable, "GitHub does not list yet that issue " +
                                            std::to_string(row.issue) + " was " + row.action);
  }
  return std::to_string(taken) + " events read";
}

}  // namespace

Result<std::string> read_back(comparison::Services& services, const TrackerReader& reader,
                              const std::string& own_login, const storage::ReceivedRow& row) {
  storage::ConversationStore store(services.database);
  TW_TRY(const auto incident,
         store.incident_of_issue(row.issue, services.config.github.repository));
  if (!incident) return std::string("not an issue of an incident");
  TW_TRY(const auto gone, store.why_gone(*incident));
  if (!gone.empty()) return gone;
  TW_TRY(auto now, reader.issue(row.issue));
  const Reading reading{services, reader, own_login, *incident, row.issue, std::move(now)};
  const auto issue = "issue " + std::to_string(row.issue);
  const auto why = !reading.now.is_there           ? issue + " was deleted"
                   : !reading.now.moved_to.empty() ? issue + " was moved to " + reading.now.moved_to
                                                   : std::string();
  if (why.empty()) return read_events(reading, row);
  TW_TRY_VOID(note_gone(reading, why));
  return why;
}

}  // namespace torchwatch::conversation
