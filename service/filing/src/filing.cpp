#include "torchwatch/filing/filing.hpp"

#include <algorithm>

#include "issue_messages.hpp"
#include "owners.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::filing {
namespace {

using config::FileWhen;
using report::Finding;
using report::IncidentFacts;
using storage::ComparisonRow;
using storage::IncidentRow;
using storage::OutboxRow;

/// An incident without an issue, with what is known of it.
struct Unfiled {
  IncidentRow incident;
  IncidentFacts facts;
};

/// Returns why [github] file_when lets an incident not through; empty: it does.
std::string why_not(FileWhen when, const IncidentFacts& facts) {
  if (when == FileWhen::at_once || !facts.bisection) return "";
  const auto finding = report::finding_of(*facts.bisection);
  if (finding == Finding::not_reproduced) return "the change did not reproduce";
  const bool is_missing = when == FileWhen::named && !report::names_a_commit(facts);
  return is_missing ? "no commit is named" : "";
}

/// Orders incidents for the cap: what is lost, then the largest changes.
bool is_more_urgent(const Unfiled& left, const Unfiled& right) {
  const auto is_lost = [](const Unfiled& each) {
    return each.incident.kind == IncidentKind::lost || each.facts.effects.empty();
  };
  if (is_lost(left) || is_lost(right)) return is_lost(left) && !is_lost(right);
  const auto worst = [](const Unfiled& each) {
    return *std::ranges::min_element(each.facts.effects, report::is_larger);
  };
  return report::is_larger(worst(left), worst(right));
}

Result<IncidentFacts> facts_for(comparison::Services& services, const FactsOf& facts_of,
                                const IncidentRow& incident) {
  TW_TRY(auto facts, facts_of(incident));
  facts.cc = mentioned(services.config, facts);
  return facts;
}

Status open_issue(comparison::Services& services, const Unfiled& unfiled) {
  TW_TRY_VOID(queue_open(services, unfiled.incident, unfiled.facts));
  return tell_culprits(services, unfiled.incident, unfiled.facts);
}

/// Opens the issues of the most urgent, in the order of the incidents; returns the others.
Result<std::vector<Unfiled>> open_up_to(comparison::Services& services, std::vector<Unfiled> all,
                                        std::size_t issues_max) {
  std::vector<Unfiled> others;
  if (all.size() > issues_max) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(issues_max);
    std::ranges::stable_sort(all, is_more_urgent);
    others.assign(std::make_move_iterator(middle), std::make_move_iterator(all.end()));
    all.erase(middle, all.end());
    std::ranges::sort(all, {}, [](const Unfiled& each) { return each.incident.id; });
  }
  for (const auto& each : all) TW_TRY_VOID(open_issue(services, each));
  return others;
}

std::size_t left_of_cap(const comparison::Services& services, std::size_t opened) {
  const auto most = static_cast<std::size_t>(services.config.github.issues_per_night);
  return most - std::min(most, opened);
}

Status queue_umbrella(comparison::Services& services, const ComparisonRow& comparison,
                      const std::vector<Unfiled>& beyond) {
  if (beyond.empty()) return {};
  storage::IncidentStore incidents(services.database);
  TW_TRY(const auto build, storage::BuildStore(services.database).get(comparison.candidate));
  std::vector<report::ListedIncident> listed;
  for (const auto& [incident, facts] : beyond) {
    const auto title = report::incident_title(facts);
    TW_TRY_VOID(incidents.set_title(incident.id, title));
    TW_TRY_VOID(incidents.set_unfiled(incident.id, "it stands in one issue with others"));
    listed.push_back({title, facts.page});
  }
  OutboxRow row;
  row.key = "umbrella-" + std::to_string(comparison.id);
  row.kind = storage::OutboxKind::umbrella;
  // The sender looks no further back than this for an issue that it opened already.
  row.target = "umbrella/" + std::to_string(services.clock.wall_now());
  row.title = report::umbrella_title(beyond.size(), build.name);
  row.body = report::with_marker(
      report::umbrella_body(listed, build.name, services.config.github.issues_per_night), row.key,
      services.random.token());
  return storage::OutboxStore(services.database).queue(row);
}

/// Gives an issue that was opened before its search had ended the newest text.
Status bring_up_to_date(comparison::Services& services, const IncidentRow& incident,
                        const OutboxRow& issue, const IncidentFacts& facts) {
  auto named = facts;
  named.key = issue.key;
  const auto prefix = config::heard_command_prefix(services.config);
  const auto title = report::incident_title(named);
  const auto body = report::with_marker_of(report::issue_body(named, prefix), issue.body);
  TW_TRY_VOID(storage::IncidentStore(services.database).set_title(incident.id, title));
  TW_TRY_VOID(queue_edit(services, issue, title, body));
  if (!report::names_a_commit(facts)) return {};
  TW_TRY_VOID(follow_up(services, incident, storage::OutboxKind::comment,
                        "named-" + std::to_string(incident.id), report::naming_comment(facts)));
  return tell_culprits(services, incident, facts);
}

/// Notes why the incident has no issue, and gives it the title that the issue would have.
Status leave_unfiled(comparison::Services& services, const Unfiled& unfiled,
                     const std::string& why) {
  storage::IncidentStore incidents(services.database);
  TW_TRY_VOID(incidents.set_title(unfiled.incident.id, report::incident_title(unfiled.facts)));
  return incidents.set_unfiled(unfiled.incident.id, why);
}

}  // namespace

Status file_at_once(comparison::Services& services, const ComparisonRow& comparison,
                    const FactsOf& facts_of) {
  if (services.config.github.file_when != FileWhen::at_once) return {};
  TW_TRY(const auto incidents,
         storage::IncidentStore(services.database).of_comparison(comparison.id));
  std::vector<Unfiled> unfiled;
  for (const auto& incident : incidents) {
    TW_TRY(auto facts, facts_for(services, facts_of, incident));
    unfiled.push_back({incident, std::move(facts)});
  }
  TW_TRY_VOID(open_up_to(services, std::move(unfiled), left_of_cap(services, 0)));
  return {};
}

Status file_incidents(comparison::Services& services, const ComparisonRow& comparison,
                      const FactsOf& facts_of) {
  TW_TRY(const auto incidents,
         storage::IncidentStore(services.database).of_comparison(comparison.id));
  std::vector<Unfiled> unfiled;
  std::size_t opened = 0;
  for (const auto& incident : incidents) {
    TW_TRY(auto facts, facts_for(services, facts_of, incident));
    TW_TRY(const auto issue, issue_of(services, incident));
    if (issue) {
      ++opened;
      TW_TRY_VOID(bring_up_to_date(services, incident, *issue, facts));
      continue;
    }
    Unfiled each{incident, std::move(facts)};
    const auto why = why_not(services.config.github.file_when, each.facts);
    if (why.empty()) {
      unfiled.push_back(std::move(each));
    } else {
      TW_TRY_VOID(leave_unfiled(services, each, why));
    }
  }
  TW_TRY(const auto beyond,
         open_up_to(services, std::move(unfiled), left_of_cap(services, opened)));
  return queue_umbrella(services, comparison, beyond);
}

Status refile(comparison::Services& services, const IncidentRow& incident,
              const FactsOf& facts_of) {
  TW_TRY(auto facts, facts_for(services, facts_of, incident));
  TW_TRY(const auto issue, issue_of(services, incident));
  if (!issue) {
    const bool is_let_through = why_not(services.config.github.file_when, facts).empty();
    return is_let_through ? open_issue(services, {incident, std::move(facts)}) : Status{};
  }
  facts.key = issue->key;
  const auto title = report::incident_title(facts);
  const auto text = report::issue_body(facts, config::heard_command_prefix(services.config));
  const auto body =
      report::with_state(report::with_marker_of(text, issue->body), report::state_searched_again());
  TW_TRY_VOID(storage::IncidentStore(services.database).set_title(incident.id, title));
  TW_TRY_VOID(queue_edit(services, *issue, title, body));
  return tell_culprits(services, incident, facts);
}

Status follow_up(comparison::Services& services, const IncidentRow& incident,
                 storage::OutboxKind kind, const std::string& key, const std::string& text) {
  TW_TRY(const auto issue, issue_of(services, incident));
  if (!issue) return {};
  OutboxRow row;
  row.key = key;
  row.incident = incident.id;
  row.kind = kind;
  row.title = incident.title;
  row.body = report::with_marker(text, key, services.random.token());
  return storage::OutboxStore(services.database).queue(row);
}

Status set_state(comparison::Services& services, const IncidentRow& incident,
                 const std::string& state) {
  TW_TRY(const auto issue, issue_of(services, incident));
  if (!issue) return {};
  return queue_edit(services, *issue, issue->title, report::with_state(issue->body, state));
}

}  // namespace torchwatch::filing
