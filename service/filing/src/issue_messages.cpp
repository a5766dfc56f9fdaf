#include "issue_messages.hpp"

#include "torchwatch/config/addresses.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::filing {
namespace {

using storage::IncidentRow;
using storage::OutboxKind;
using storage::OutboxRow;

Status comment_on_pull(comparison::Services& services, const IncidentRow& incident,
                       const report::CommitFacts& culprit, const std::string& text) {
  const auto pull = report::pull_of(culprit.subject);
  OutboxRow row;
  row.incident = incident.id;
  row.kind = OutboxKind::pull_comment;
  row.target = pull.empty() ? "pull-of/" + culprit.sha : "pull/" + pull;
  row.key = "pull-" + std::to_string(incident.id) + "-" + (pull.empty() ? culprit.sha : pull);
  row.body = report::with_marker(text, row.key, services.random.token());
  return storage::OutboxStore(services.database).queue(row);
}

Status assign_author(comparison::Services& services, const IncidentRow& incident,
                     const report::CommitFacts& culprit) {
  OutboxRow row;
  row.incident = incident.id;
  row.kind = OutboxKind::edit;
  row.target = "author/" + culprit.sha;
  row.key = "author-" + std::to_string(incident.id) + "-" + culprit.sha;
  return storage::OutboxStore(services.database).queue(row);
}

}  // namespace

Status queue_open(comparison::Services& services, const IncidentRow& incident,
                  report::IncidentFacts facts) {
  OutboxRow row;
  row.key = "open-" + incident.key + "-" + std::to_string(incident.id);
  row.incident = incident.id;
  row.title = report::incident_title(facts);
  facts.key = row.key + ":" + services.random.token();  // nobody else can write such a marker
  row.body = report::issue_body(facts, config::heard_command_prefix(services.config));
  storage::IncidentStore incidents(services.database);
  TW_TRY_VOID(incidents.set_title(incident.id, row.title));
  TW_TRY_VOID(incidents.set_unfiled(incident.id, ""));
  return storage::OutboxStore(services.database).queue(row);
}

Result<std::optional<OutboxRow>> issue_of(comparison::Services& services,
                                          const IncidentRow& incident) {
  TW_TRY(const auto messages, storage::OutboxStore(services.database).of_incident(incident.id));
  return report::issue_in(messages);
}

Status queue_edit(comparison::Services& services, const OutboxRow& issue, const std::string& title,
                  const std::string& body) {
  if (issue.title == title && issue.body == body) return {};
  storage::OutboxStore outbox(services.database);
  TW_TRY(const auto messages, outbox.of_incident(issue.incident));
  OutboxRow row;
  row.key = "edit-" + std::to_string(issue.incident) + "-" + std::to_string(messages.back().id);
  row.incident = issue.incident;
  row.kind = OutboxKind::edit;
  row.title = title;
  row.body = body;
  return outbox.queue(row);
}

Status tell_culprits(comparison::Services& services, const IncidentRow& incident,
                     const report::IncidentFacts& facts) {
  const auto& github = services.config.github;
  if (!facts.bisection || config::commits_repository(services.config).empty()) return {};
  for (const auto& culprit : facts.bisection->culprits) {
    if (report::finding_of(culprit) != report::Finding::named) continue;
    const auto& commit = culprit.commits.front();
    if (github.assign_author) TW_TRY_VOID(assign_author(services, incident, commit));
    if (github.comment_on_pull) {
      TW_TRY_VOID(
          comment_on_pull(services, incident, commit, report::pull_comment(facts, culprit)));
    }
  }
  return {};
}

}  // namespace torchwatch::filing
