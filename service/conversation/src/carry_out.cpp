#include "carry_out.hpp"

#include <algorithm>
#include <array>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/records/asker.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/bisection_request.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"
#include "torchwatch/triage/decisions.hpp"
#include "torchwatch/triage/triage.hpp"

namespace torchwatch::conversation {
namespace {

using nlohmann::json;
using storage::CommandRow;
using storage::CommandState;
using storage::DecisionKind;
using storage::IncidentRow;

/// What a command is carried out with.
struct Work {
  const Parts& parts;
  comparison::Services& services;
  const Command& command;
  CommandRow& row;
};

storage::Asker asker_of(const CommandRow& row) {
  return github_user(row.login);
}

storage::Decision decision_of(const Work& work) {
  return {.by = work.row.login,
          .reason = work.command.reason,
          .at = 0,
          .asked_by = to_string(asker_of(work.row))};
}

Result<IncidentRow> incident_of(const Work& work) {
  if (work.row.incident) {
    return storage::IncidentStore(work.services.database).get(*work.row.incident);
  }
  return fail(ErrorCode::invalid, "this is not the issue of an incident");
}

Status require_workload(const Work& work, const std::string& name) {
  TW_TRY(const auto known, work.services.runners.workloads());
  if (std::ranges::find(known, name) != known.end()) return {};
  return fail(ErrorCode::invalid, "there is no workload " + name.substr(0, 100),
              did_you_mean(name, known));
}

Status acknowledge(const Work& work) {
  TW_TRY(const auto incident, incident_of(work));
  work.row.said = "Incident " + std::to_string(incident.id) + " is acknowledged.";
  return triage::decide_incident(work.services, incident.id, DecisionKind::acknowledged,
                                 decision_of(work), triage::Telling::nowhere);
}

Status take_back(const Work& work) {
  TW_TRY(const auto incident, incident_of(work));
  if (incident.state == storage::IncidentState::closed) {
    return fail(ErrorCode::conflict,
                "incident " + std::to_string(incident.id) + " is closed: reopen the issue instead");
  }
  work.row.said = "Incident " + std::to_string(incident.id) + " is open, not acknowledged.";
  return triage::decide_incident(work.services, incident.id, DecisionKind::reopened,
                                 decision_of(work), triage::Telling::nowhere);
}

/// The commit that somebody holds for wrong must be one that was named.
Status require_named(const Work& work, const IncidentRow& incident) {
  if (work.command.disputed.empty() || !incident.bisection) return {};
  TW_TRY(const auto row, storage::BisectionStore(work.services.database).get(*incident.bisection));
  if (row.result_json.empty()) return {};
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  for (const auto& culprit : result.culprits) {
    for (const auto& commit : culprit.commits) {
      if (commit.starts_with(work.command.disputed)) return {};
    }
  }
  return fail(ErrorCode::invalid, "incident " + std::to_string(incident.id) + " does not name " +
                                      work.command.disputed +
                                      ": leave the commit out, or give "
                                      "the one that is named");
}

Status dispute(const Work& work) {
  TW_TRY(const auto incident, incident_of(work));
  TW_TRY_VOID(require_named(work, incident));
  TW_TRY(const auto again, triage::dispute_incident(work.services, incident.id, decision_of(work),
                                                    triage::Telling::nowhere));
  work.row.bisection = again.id;
  work.row.state = CommandState::waiting;
  return {};
}

/// Returns the open incidents that a target names.
Result<std::vector<IncidentRow>> named_incidents(const Work& work) {
  TW_TRY_VOID(storage::check_mute_target(work.command.target));
  TW_TRY(auto incidents, storage::IncidentStore(work.services.database).unclosed());
  std::erase_if(incidents, [&](const IncidentRow& incident) {
    return std::ranges::none_of(incident.series, [&](const auto& each) {
      return storage::is_muted_by(work.command.target, each.series);
    });
  });
  return incidents;
}

Result<storage::Id> incident_to_retest(const Work& work) {
  if (work.command.target.empty()) {
    TW_TRY(const auto incident, incident_of(work));
    return incident.id;
  }
  TW_TRY(const auto named, named_incidents(work));
  if (named.size() == 1) return named.front().id;
  const auto target = work.command.target.substr(0, 100);
  if (named.empty()) return fail(ErrorCode::not_found, "no open incident has series of " + target);
  return fail(ErrorCode::invalid, std::to_string(named.size()) + " open incidents have series of " +
                                      target + ": write the command on the issue of one");
}

Status retest(const Work& work) {
  TW_TRY(const auto incident, incident_to_retest(work));
  TW_TRY(const auto due, triage::retest_incident(work.services, incident));
  work.row.incident = incident;
  work.row.comparison = due.comparison.id;
  work.row.state = CommandState::waiting;
  return {};
}

Status mute(const Work& work) {
  const auto& target = work.command.target;
  TW_TRY_VOID(storage::check_mute_target(target));
  const auto workload = target.substr(0, target.find('/'));
  if (workload != "*") TW_TRY_VOID(require_workload(work, workload));
  const auto now = work.services.clock.wall_now();
  const auto until = now + std::chrono::milliseconds(work.command.length).count();
  TW_TRY(const auto row, storage::MuteStore(work.services.database)
                             .add({.target = target,
                                   .until = until,
                                   .made_by = work.row.login,
                                   .reason = work.command.reason,
                                   .asked_by = to_string(asker_of(work.row)),
                                   .made_at = now}));
  work.row.said = "No incident of " + report::code(row.target) + " is opened until " +
                  platform::date_and_minute(until) + " UTC (mute " + std::to_string(row.id) +
                  "). Its series are measured and judged meanwhile.";
  return {};
}

/// The commits between which an incident's change lies.
Status take_ends(const Work& work, const IncidentRow& incident, json& body) {
  auto& database = work.services.database;
  TW_TRY(const auto comparison, storage::ComparisonStore(database).get(incident.comparison));
  if (!comparison.baseline) return fail(ErrorCode::invalid, "the incident has no last good build");
  storage::BuildStore builds(database);
  TW_TRY(const auto good, builds.get(*comparison.baseline));
  TW_TRY(const auto bad, builds.get(comparison.candidate));
  if (good.trunk_commit.empty() || bad.trunk_commit.empty()) {
    return fail(ErrorCode::invalid,
                "the commits of the incident's builds are not known: name GOOD..BAD");
  }
  body["good"] = good.trunk_commit;
  body["bad"] = bad.trunk_commit;
  return {};
}

template <typename T>
void add_once(json& list, const T& text) {
  if (std::ranges::find(list, json(text)) == list.end()) list.push_back(text);
}

/// What the command leaves out is as the incident has it, as far as one request can say it.
void take_series(const Command& command, const IncidentRow& incident, json& body) {
  auto workloads = json::array();
  auto configurations = json::array();
  auto variants = json::array();
  auto metrics = json::array();
  for (const auto& [series, ratio, low, high, before, after] : incident.series) {
    const auto configuration = to_string(series.benchmark.configuration);
    const auto metric = std::string(to_string(series.metric));
    const bool is_meant =
        (command.workload.empty() || command.workload == series.benchmark.workload) &&
        (command.configuration.empty() || command.configuration == configuration) &&
        (command.metric.empty() || command.metric == metric);
    if (!is_meant) continue;
    add_once(workloads, series.benchmark.workload);
    add_once(configurations, configuration);
    add_once(variants, to_string(series.benchmark.variant));
    add_once(metrics, metric);
  }
  if (!workloads.empty()) body["workloads"] = workloads;
  if (!configurations.empty()) body["configurations"] = configurations;
  const bool is_default = variants == json::array({to_string(Variant{})});
  if (!variants.empty() && !is_default) body["variants"] = variants;
  if (!metrics.empty()) body["metrics"] = metrics;
}

Result<json> request_of(const Work& work) {
  const auto& command = work.command;
  json body = json::object();
  if (work.row.incident) {
    TW_TRY(const auto incident, incident_of(work));
    take_series(command, incident, body);
    const bool names_commits = !command.suspect.empty() || !command.good.empty();
    if (!names_commits) TW_TRY_VOID(take_ends(work, incident, body));
  } else if (command.suspect.empty() && command.good.empty()) {
    return fail(ErrorCode::invalid,
                "this is not the issue of an incident, so name a commit, or GOOD..BAD");
  }
  if (!command.good.empty()) body.update({{"good", command.good}, {"bad", command.bad}});
  if (!command.suspect.empty()) body["suspect"] = command.suspect;
  if (!command.workload.empty()) body["workloads"] = {command.workload};
  if (!command.configuration.empty()) body["configurations"] = {command.configuration};
  if (!command.metric.empty()) body["metrics"] = {command.metric};
  return body;
}

Status bisect(const Work& work) {
  TW_TRY(const auto body, request_of(work));
  TW_TRY_VOID(requests::parse_bisection_request(body.dump()));
  TW_TRY_VOID(work.parts.check_request(storage::RequestKind::bisection, body));
  TW_TRY(const auto received, storage::RequestStore(work.services.database)
                                  .receive("comment:" + std::to_string(work.row.comment),
                                           storage::RequestKind::bisection, body.dump(),
                                           work.services.clock.wall_now(), asker_of(work.row)));
  work.row.request = received.first.id;
  work.row.state = CommandState::waiting;
  return {};
}

Status compare(const Work& work) {
  const auto& [parts, services, command, row] = work;
  if (command.head.empty() && command.written_at == 0) {
    return fail(ErrorCode::invalid,
                "GitHub does not say when this was written: name the commit that is meant");
  }
  const pulls::PullSpec spec{.pull = row.issue,
                             .head = command.head,
                             .selection = {.workloads = command.workloads},
                             .login = row.login,
                             .asked_at = command.written_at};
  TW_TRY_VOID(parts.check_request(storage::RequestKind::nightly, pulls::to_json(spec)));
  TW_TRY(const auto request,
         pulls::request_pull_comparison(services.database, services.config, spec,
                                        {.delivery = "comment:" + std::to_string(row.comment),
                                         .at = services.clock.wall_now(),
                                         .asked_by = asker_of(row)}));
  row.request = request.id;
  row.state = CommandState::waiting;
  return {};
}

Status cancel_request(const Work& work, storage::Id id, int& ended) {
  TW_TRY(const auto request, storage::RequestStore(work.services.database).get(id));
  if (storage::is_end(request.state)) return {};
  ++ended;
  return pulls::cancel_request(work.services, id, asker_of(work.row));
}

Status cancel_one(const Work& work, const CommandRow& asked, int& ended) {
  const auto asker = asker_of(work.row);
  if (asked.request) return cancel_request(work, *asked.request, ended);
  if (asked.comparison) {
    TW_TRY(const auto row, storage::ComparisonStore(work.services.database).get(*asked.comparison));
    if (is_end(row.state)) return {};
    ++ended;
    return triage::cancel_comparison(work.services, row.id, asker);
  }
  if (!asked.bisection) return {};
  TW_TRY(const auto row, storage::BisectionStore(work.services.database).get(*asked.bisection));
  if (row.state == storage::BisectionState::ended) return {};
  ++ended;
  return triage::cancel_bisection(work.services, row.id, asker);
}

Status cancel(const Work& work) {
  TW_TRY(const auto commands,
         storage::ConversationStore(work.services.database).commands_of(work.row.issue));
  int ended = 0;
  for (const auto& asked : commands) {
    if (asked.state == CommandState::waiting) TW_TRY_VOID(cancel_one(work, asked, ended));
  }
  work.row.said =
      ended == 0 ? "Nothing that was asked for on this issue is under way."
                 : "Cancelled what was asked for on this issue (" + std::to_string(ended) + ").";
  return {};
}

}  // namespace

std::string help_text(const std::string& prefix) {
  constexpr std::array kLines{
      std::pair{
          CommandName::bisect,
          "searches the commit; on the issue of an incident its ends and series are the default"},
      std::pair{CommandName::retest, "measures the incident's series again on the newest nightly"},
      std::pair{CommandName::ack, "acknowledges the incident"},
      std::pair{CommandName::unack, "takes that back"},
      std::pair{CommandName::wrong, "the commit that is named is wrong: it is searched again"},
      std::pair{CommandName::mute,
                "opens no incident of a workload, or of WORKLOAD/CONFIGURATION/VARIANT/METRIC, for "
                "so long"},
      std::pair{CommandName::cancel, "ends what was asked for on this issue"},
      std::pair{CommandName::compare,
                "on a pull request: compares its head, or that commit, with what it branched "
                "from"}};
  std::string text = "The commands, each on a line of its own, one a comment:\n\n";
  for (const auto& [name, what] : kLines) {
    text += "- " + report::code(form_of(name, prefix)) + ": " + what + "\n";
  }
  return text;
}

Status carry_out(const Parts& parts, comparison::Services& services, const Command& command,
                 CommandRow& row) {
  const Work work{parts, services, command, row};
  switch (command.name) {
    case CommandName::bisect:
      return bisect(work);
    case CommandName::retest:
      return retest(work);
    case CommandName::ack:
      return acknowledge(work);
    case CommandName::unack:
      return take_back(work);
    case CommandName::wrong:
      return dispute(work);
    case CommandName::mute:
      return mute(work);
    case CommandName::cancel:
      return cancel(work);
    case CommandName::compare:
      return compare(work);
    case CommandName::help:
      row.said = help_text(parts.settings.command_prefix);
      return {};
  }
  return fail(ErrorCode::internal, "an unknown command");
}

}  // namespace torchwatch::conversation
