#include "facts.hpp"

#include <algorithm>

#include "torchwatch/config/addresses.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::notify {
namespace {

using nlohmann::json;
using storage::IncidentRow;
using storage::OutboxKind;

constexpr std::size_t kTitleMax = 200;

std::string without_marker(std::string text) {
  const auto marker = report::marker_in(text);
  if (marker) text.erase(text.rfind(*marker), marker->size());
  return text;
}

/// The newest message to the tracker about it, whether or not that was sent; empty where there is
/// none.
Result<std::string> issue_text(const NoticeParts& parts, const IncidentRow& incident) {
  TW_TRY(const auto messages, storage::OutboxStore(parts.database).of_incident(incident.id));
  std::string text;
  for (const auto& message : messages) {
    const bool is_of_issue = message.target.empty() && !message.body.empty();
    if (is_of_issue) text = without_marker(message.body);
  }
  return text;
}

std::string list_of_series(const IncidentRow& incident) {
  std::vector<std::string> items;
  for (const auto& row : incident.series) {
    const auto change = report::change_text(report::effect_of(row));
    items.push_back(report::code(to_string(row.series)) + (change.empty() ? "" : " " + change));
  }
  constexpr std::size_t kItemsMax = 50;
  return report::bullets(items, kItemsMax, "series");
}

Result<Notice> notice_of(const NoticeParts& parts, const IncidentRow& incident,
                         const std::string& event, const std::string& key) {
  Notice notice{.event = event, .key = key, .title = report::clean(incident.title, kTitleMax)};
  const auto page = page_of_incident(parts.config, incident.id);
  const auto issues = issues_address(parts.config);
  const bool is_filed = incident.issue_number && !issues.empty();
  const auto issue = is_filed ? issues + "/issues/" + std::to_string(*incident.issue_number) : "";
  notice.facts = {{"incident", report::json_of(incident)},
                  {"url", report::text_or_null(page)},
                  {"issue_url", report::text_or_null(issue)}};
  TW_TRY(notice.text, issue_text(parts, incident));
  if (notice.text.empty()) notice.text = notice.title + "\n\n" + list_of_series(incident);
  notice.text = "Incident " + std::to_string(incident.id) + " is " + report::state_text(incident) +
                "\n\n" + notice.text;
  for (const auto& address : {page, issue}) {
    if (!address.empty()) notice.text += "\n" + address + "\n";
  }
  return notice;
}

/// What the decision is called; empty where it changes nothing that others follow.
std::string event_of(storage::DecisionKind kind) {
  switch (kind) {
    case storage::DecisionKind::acknowledged:
      return "acknowledged";
    case storage::DecisionKind::accepted:
    case storage::DecisionKind::closed:
      return "closed";
    case storage::DecisionKind::reopened:
      return "reopened";
    case storage::DecisionKind::disputed:
      break;
  }
  return "";
}

/// An incident that a person, or a recheck, decided about: what was decided by that change.
Result<std::vector<Notice>> of_incident(const NoticeParts& parts, storage::Id id,
                                        storage::Id change) {
  TW_TRY(const auto incident, storage::IncidentStore(parts.database).get(id));
  std::vector<Notice> notices;
  std::size_t count = 0;
  for (const auto& [kind, decision] : incident.decisions) {
    ++count;
    const auto event = event_of(kind);
    if (decision.event != change || event.empty()) continue;
    const auto key = event + "-" + std::to_string(id) + "-" + std::to_string(count);
    TW_TRY(notices.emplace_back(), notice_of(parts, incident, event, key));
  }
  return notices;
}

Result<Notice> notice_of_nightly(const NoticeParts& parts, const storage::ComparisonRow& row) {
  TW_TRY(const auto candidate, storage::BuildStore(parts.database).get(row.candidate));
  TW_TRY(const auto word, report::result_word(parts.database, row));
  TW_TRY(auto facts, report::json_of(parts.database, row));
  facts["reason"] = nullptr;  // it may quote paths and the output of programs
  Notice notice{.event = "nightly", .key = "nightly-" + std::to_string(row.id)};
  notice.title = "Nightly " + report::clean(candidate.name, kTitleMax) + ": " + word;
  const auto page = page_of_comparison(parts.config, row.id);
  notice.facts = {{"comparison", std::move(facts)}, {"url", report::text_or_null(page)}};
  notice.text = notice.title + "\n" + (page.empty() ? "" : "\n" + page + "\n");
  return notice;
}

Result<std::vector<Notice>> of_comparison(const NoticeParts& parts, storage::Id id) {
  TW_TRY(const auto row, storage::ComparisonStore(parts.database).get(id));
  std::vector<Notice> notices;
  if (row.purpose == storage::Purpose::nightly) {
    TW_TRY(notices.emplace_back(), notice_of_nightly(parts, row));
  }
  storage::IncidentStore incidents(parts.database);
  TW_TRY(const auto opened, incidents.of_comparison(id));
  for (const auto& incident : opened) {
    const auto key = "opened-" + std::to_string(incident.id);
    TW_TRY(notices.emplace_back(), notice_of(parts, incident, "opened", key));
  }
  TW_TRY(const auto again, incidents.found_again_by(id));
  for (const auto& incident : again) {
    const auto key = "recurred-" + std::to_string(incident.id) + "-" + std::to_string(id);
    TW_TRY(notices.emplace_back(), notice_of(parts, incident, "recurred", key));
  }
  return notices;
}

/// Alarms have no events of their own; their messages have.
Result<std::vector<Notice>> of_message(const NoticeParts& parts, const std::string& key) {
  if (!key.starts_with("open-alarm-") && !key.starts_with("end-alarm-")) {
    return std::vector<Notice>{};
  }
  TW_TRY(const auto subject, storage::OutboxStore(parts.database).subject_of(key));
  const auto row = std::ranges::find(subject.messages, key, &storage::OutboxRow::key);
  if (row == subject.messages.end()) return std::vector<Notice>{};
  const bool is_open = row->kind == OutboxKind::open;
  const auto text = without_marker(row->body);
  return std::vector{Notice{
      .event = "alarm",
      .key = key,
      .title = is_open ? report::clean(row->title, kTitleMax) : "An alarm of torchwatch has ended",
      .facts = {{"alarm",
                 {{"state", is_open ? "open" : "ended"},
                  {"title", report::text_or_null(row->title)},
                  {"text", text}}}},
      .text = text}};
}

Result<std::vector<Notice>> meaning_of(const NoticeParts& parts, const storage::EventRow& event) {
  if (event.kind == "message") return of_message(parts, event.item);
  if (event.kind == "incident") return of_incident(parts, std::stoll(event.item), event.id);
  const bool is_reported = event.kind == "comparison" && event.state == "reported";
  return is_reported ? of_comparison(parts, std::stoll(event.item)) : std::vector<Notice>{};
}

}  // namespace

Result<std::vector<Notice>> notices_of(const NoticeParts& parts, const storage::EventRow& event) {
  auto notices = meaning_of(parts, event);
  // What is not there any more is nothing to tell of.
  const bool is_gone = !notices && notices.error().code == ErrorCode::not_found;
  return is_gone ? std::vector<Notice>{} : std::move(notices);
}

}  // namespace torchwatch::notify
