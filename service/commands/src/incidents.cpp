#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "torchwatch/commands/bisection_output.hpp"
#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/reader_command.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/nightly/acceptance.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/user.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::commands {
namespace {

constexpr int kIncidentsShown = 50;

Outcome run_list(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::IncidentStore(*database).list(kIncidentsShown));
  terminal::Table table({{"id", terminal::Table::Align::right},
                         {"opened, UTC"},
                         {"kind"},
                         {"state"},
                         {"issue"},
                         {"title"}});
  auto array = nlohmann::json::array();
  for (const auto& row : rows) {
    table.add({std::to_string(row.id), platform::date_and_minute(row.opened_at),
               std::string(to_string(row.kind)), std::string(report::state_word(row)),
               row.issue_number ? "#" + std::to_string(*row.issue_number) : "", row.title});
    array.push_back(report::json_of(row));
  }
  if (invocation.json) {
    invocation.out << nlohmann::json{{"incidents", array}}.dump(2) << '\n';
  } else if (table.empty()) {
    invocation.out << "No incident.\n";
  } else {
    table.print(invocation.out);
  }
  return ExitStatus::done;
}

Outcome run_show(const Invocation& invocation, storage::Id id) {
  TW_TRY(const auto database, open_reader(invocation));
  storage::IncidentStore store(*database);
  TW_TRY(const auto incident, store.get(id));
  TW_TRY(const auto messages, store.outbox_of(id));
  auto object = report::json_of(incident);
  std::vector<bisection::TraceStep> trace;
  if (incident.bisection) {
    storage::BisectionStore bisections(*database);
    TW_TRY(const auto bisection, bisections.get(*incident.bisection));
    TW_TRY(const auto events, bisections.events_of(bisection.id));
    TW_TRY(trace, bisection::trace_of(bisection, events));
    object["bisection_result"] = report::embedded(bisection.result_json);
    object["bisection_trace"] = nlohmann::json::array();
    for (const auto& step : trace) object["bisection_trace"].push_back(to_json(step));
  }
  if (invocation.json) {
    invocation.out << object.dump(2) << '\n';
    return ExitStatus::done;
  }
  invocation.out << "incident " << id << ", " << report::state_word(incident);
  if (incident.acceptance) {
    invocation.out << " by " << incident.acceptance->by << " on "
                   << platform::date_and_minute(incident.acceptance->at) << ": "
                   << incident.acceptance->reason;
  }
  invocation.out << "\n\n";
  for (const auto& message : messages) {
    invocation.out << "# " << message.title << "\n\n" << message.body << "\n";
  }
  print(invocation.out, trace);
  return ExitStatus::done;
}

std::string path_of(storage::Id incident, const std::string& action) {
  return "/api/v1/incidents/" + std::to_string(incident) + "/" + action;
}

Outcome run_acknowledge(const Invocation& invocation, storage::Id id) {
  TW_TRY_VOID(make(invocation, {.path = path_of(id, "acknowledge"),
                                .without_daemon = [id](auto& services) {
                                  return storage::IncidentStore(services.database).acknowledge(id);
                                }}));
  invocation.out << "incident " << id << " acknowledged\n";
  return ExitStatus::done;
}

Outcome run_close(const Invocation& invocation, storage::Id id) {
  TW_TRY_VOID(make(invocation,
                   {.path = path_of(id, "close"), .without_daemon = [id](auto& services) {
                      return storage::IncidentStore(services.database)
                          .close(id, services.clock.wall_now());
                    }}));
  invocation.out << "incident " << id << " closed\n";
  return ExitStatus::done;
}

struct AcceptOptions {
  std::string by;
  std::string reason;
};

Outcome run_accept(const Invocation& invocation, storage::Id id, const AcceptOptions& options) {
  const auto by = options.by.empty() ? platform::user_name(getuid()) : options.by;
  TW_TRY_VOID(make(invocation,
                   {.path = path_of(id, "accept"),
                    .body = {{"by", by}, {"reason", options.reason}},
                    .without_daemon = [&](auto& services) {
                      return nightly::accept_incident(services, id, by, options.reason);
                    }}));
  invocation.out << "incident " << id << " accepted by " << by << "\n";
  return ExitStatus::done;
}

}  // namespace

void add_incidents(Commands& commands) {
  commands.add("incidents", "What got worse, newest first", run_list);
  auto& incident =
      commands.add("incident", "One incident: show, acknowledge, close, accept", nullptr);
  incident.require_subcommand(1);
  auto id = std::make_shared<storage::Id>(0);
  const auto with_id = [&](CLI::App& command) {
    command.add_option("ID", *id, "As `torchwatch incidents` lists it")->required();
  };
  with_id(commands.add(incident, "show", "Print the issue's text and the bisection behind it",
                       [id](const Invocation& invocation) { return run_show(invocation, *id); }));
  with_id(commands.add(incident, "acknowledge", "Mark it as being worked on; it stays open",
                       [id](const auto& invocation) { return run_acknowledge(invocation, *id); }));
  with_id(commands.add(incident, "close", "Mark it as fixed; reopened if it recurs",
                       [id](const auto& invocation) { return run_close(invocation, *id); }));
  auto options = std::make_shared<AcceptOptions>();
  auto& accept =
      commands.add(incident, "accept",
                   "Accept the change; later builds are compared with the build that brought it",
                   [id, options](const Invocation& invocation) {
                     return run_accept(invocation, *id, *options);
                   });
  with_id(accept);
  accept.add_option("--by", options->by, "Who accepts it; default: $USER, or your user's name")
      ->envname("USER");
  accept.add_option("--reason", options->reason, "Why; shown with the incident and in its issue")
      ->required();
}

}  // namespace torchwatch::commands
