#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/incident_output.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/decisions.hpp"
#include "torchwatch/triage/triage.hpp"

namespace torchwatch::commands {
namespace {

struct ListOptions {
  bool open = false;
  std::string state;
  std::string kind;
  SelectionOptions suite;
  int limit = kItemsShown;
};

/// Whether one of the incident's series is what was asked for.
bool concerns(const storage::IncidentRow& row, const comparison::Selection& selection) {
  if (selection == comparison::Selection{}) return true;
  return std::ranges::any_of(
      row.series, [&](const auto& effect) { return is_selected(selection, effect.series); });
}

Outcome run_list(const Invocation& invocation, const ListOptions& options) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto selection, options.suite.selection());
  warn_of_unknown_workloads(invocation, config, selection);
  const auto fits = [&](const storage::IncidentRow& row) {
    const bool is_open = row.state != storage::IncidentState::closed;
    return (is_open || !options.open) &&
           admits(options.state, to_string(row.state), report::state_word(row)) &&
           admits(options.kind, to_string(row.kind)) && concerns(row, selection);
  };
  TW_TRY(const auto rows, newest_fitting<storage::IncidentStore>(*database, options.limit, fits));
  using Fit = terminal::Table::Fit;
  constexpr std::size_t kTextMin = 24;
  Items items{terminal::Table({{"id", terminal::Table::Align::right},
                               {.heading = "opened, UTC", .rank = 2, .fit = Fit::whole},
                               {.heading = "kind", .fit = Fit::whole},
                               {.heading = "state", .fit = Fit::whole},
                               {.heading = "issue", .rank = 1, .fit = Fit::whole},
                               {.heading = "title", .least = kTextMin, .fit = Fit::wrap},
                               {.heading = "culprit", .least = kTextMin, .fit = Fit::wrap}})};
  const auto history = history_of(config);
  for (const auto& row : rows) {
    TW_TRY(const auto found, gather(*database, history ? &*history : nullptr, row));
    items.table.add({std::to_string(row.id), platform::date_and_minute(row.opened_at),
                     std::string(to_string(row.kind)), std::string(report::state_word(row)),
                     row.issue_number ? "#" + std::to_string(*row.issue_number) : "", row.title,
                     found.culprit});
    items.json.push_back(report::json_of(row));
    items.json.back()["culprit"] = report::text_or_null(found.culprit);
  }
  print(invocation, items, options.open ? "No open incident." : "No incident.");
  return ExitStatus::done;
}

std::string path_of(storage::Id incident, const std::string& action) {
  return "/api/v1/incidents/" + std::to_string(incident) + "/" + action;
}

/// Who decides, and why.
struct DecisionOptions {
  std::string by;
  std::string reason;

  storage::Decision decision() const {
    const auto asker = this_user();
    return {.by = by.empty() ? platform::user_name(static_cast<uid_t>(*asker.user)) : by,
            .reason = reason,
            .asked_by = to_string(asker)};
  }
};

/// A decision's verb, of the command and of its path, and what it makes of an incident.
struct DecisionVerb {
  std::string verb;
  storage::DecisionKind kind;
};

Outcome run_decision(const Invocation& invocation, storage::Id id, const DecisionVerb& verb,
                     const DecisionOptions& options) {
  const auto decision = options.decision();
  nlohmann::json body{{"by", decision.by}};
  if (!options.reason.empty()) body["reason"] = options.reason;
  const auto decide = [&](comparison::Services& services) {
    return triage::decide_incident(services, id, verb.kind, decision);
  };
  TW_TRY_VOID(
      make(invocation, {.path = path_of(id, verb.verb), .body = body, .without_daemon = decide}));
  return report_done(invocation,
                     {.kind = "incident",
                      .item = id,
                      .message = "incident " + std::to_string(id) + " " +
                                 std::string(to_string(verb.kind)) + " by " + decision.by});
}

Outcome run_dispute(const Invocation& invocation, storage::Id id, const DecisionOptions& options) {
  const auto decision = options.decision();
  const auto dispute = [&](comparison::Services& services) -> Status {
    TW_TRY_VOID(triage::dispute_incident(services, id, decision));
    return {};
  };
  TW_TRY_VOID(make(invocation, {.path = path_of(id, "dispute"),
                                .body = {{"by", decision.by}, {"reason", decision.reason}},
                                .without_daemon = dispute}));
  return report_done(invocation,
                     {.kind = "incident",
                      .item = id,
                      .message = "incident " + std::to_string(id) + " disputed by " + decision.by +
                                 "; the daemon, or the next `torchwatch nightly`, searches again"});
}

Outcome run_retest(const Invocation& invocation, storage::Id id) {
  auto is_new = true;
  storage::Id comparison = 0;
  const auto retest = [&](comparison::Services& services) -> Status {
    TW_TRY(const auto due, triage::retest_incident(services, id));
    is_new = due.is_new;
    comparison = due.comparison.id;
    return {};
  };
  TW_TRY(const auto reply,
         make(invocation, {.path = path_of(id, "retest"), .without_daemon = retest}));
  is_new = reply.value("is_new", is_new);
  comparison = reply.value("comparison", comparison);
  return report_done(
      invocation,
      {.kind = "incident",
       .item = id,
       .message = "incident " + std::to_string(id) + " is due " + (is_new ? "" : "already ") +
                  "to be measured again, by comparison " + std::to_string(comparison) +
                  ", in the daemon or the next `torchwatch nightly`",
       .more = {{"comparison", comparison}, {"is_new", is_new}}});
}

/// Adds the options that say who decides, and why.
void add_decision_options(CLI::App& command, DecisionOptions& options, bool needs_reason) {
  command.add_option("--by", options.by, "Who decides; default: $USER, or your user's name")
      ->envname("USER");
  command.add_option("--reason", options.reason, "Why; shown with the incident and in its issue")
      ->required(needs_reason);
}

CLI::App& add_decision(Noun& noun, const DecisionVerb& verb, const std::string& what) {
  auto options = std::make_shared<DecisionOptions>();
  auto& command = noun.add_with_id(verb.verb, what,
                                   [options, verb](const Invocation& invocation, storage::Id id) {
                                     return run_decision(invocation, id, verb, *options);
                                   });
  add_decision_options(command, *options, verb.kind == storage::DecisionKind::accepted);
  return command;
}

void add_dispute(Noun& noun) {
  auto options = std::make_shared<DecisionOptions>();
  auto& command = noun.add_with_id(
      "dispute",
      "Say that the commit it names is wrong: it is searched again, on fresh measurements, and "
      "counted in the published share of wrong culprits",
      [options](const Invocation& invocation, storage::Id id) {
        return run_dispute(invocation, id, *options);
      });
  add_decision_options(command, *options, true);
  command.footer("torchwatch incident dispute 7 --reason \"it only changes a test\"");
}

void add_list(Noun& noun) {
  auto options = std::make_shared<ListOptions>();
  auto& list = noun.add("list", "Incidents, newest first", [options](const Invocation& invocation) {
    return run_list(invocation, *options);
  });
  auto* open = list.add_flag("--open", options->open, "Only those that are not closed");
  add_filter<storage::IncidentState>(list, "state", options->state, {"accepted"});
  list.get_option("--state")->excludes(open);
  add_filter<IncidentKind>(list, "kind", options->kind);
  options->suite.add_to(list, Otherwise::all);
  options->suite.add_metric_to(list);
  add_limit(list, options->limit);
  list.footer("torchwatch incident list --open --workload resnet18");
}

}  // namespace

void add_incidents(Commands& all) {
  Noun noun(all, "incident",
            "What got worse: list, show, acknowledge, accept, close, reopen, dispute, retest");
  add_list(noun);
  all.add_format(
      noun.add_with_id("show", "What got worse, the culprit, and what to do next", show_incident));
  using enum storage::DecisionKind;
  add_decision(noun, {"acknowledge", acknowledged}, "Mark it as being worked on; it stays open");
  add_decision(noun, {"close", closed},
               "Mark it as fixed, and close its issue; if it recurs, it is a new incident")
      .footer("torchwatch incident close 7 --reason \"fixed by 5d1c1c3f0a9e\"");
  add_decision(
      noun, {"accept", accepted},
      "Accept as the new normal; later builds are compared with the build that introduced it")
      .footer("torchwatch incident accept 7 --reason \"the price of a fix\"");
  add_decision(noun, {"reopen", reopened}, "Open a closed or accepted one again, and its issue");
  add_dispute(noun);
  noun.add_with_id("retest", "Measure its series again, with the newest build", run_retest);
}

}  // namespace torchwatch::commands
