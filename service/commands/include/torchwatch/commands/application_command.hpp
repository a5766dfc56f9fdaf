#pragma once

#include <memory>
#include <variant>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/control/control_client.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/signals/orders.hpp"

namespace torchwatch::commands {

/// The configured database for reading; works beside a running daemon.
inline Result<std::unique_ptr<storage::Database>> open_reader(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  return daemon::open_reader(config);
}

/// An application for the length of one command, with its log and its progress on standard error.
struct SessionOfCommand {
  std::shared_ptr<void> own_state;  ///< of a database that ends with the command; else null
  std::unique_ptr<log::Log> log;
  std::unique_ptr<comparison::Progress> progress;
  std::unique_ptr<signals::Listening> listening;  ///< says on the progress what signals ask
  std::unique_ptr<daemon::Application> application;

  comparison::Services& services() const { return application->services(); }
};

/// Opens an application that shows its progress on the terminal and logs warnings, or as
/// --log-level says. The first SIGINT lets the run that is under way end. Errors: those of
/// daemon::Application::open.
Result<SessionOfCommand> open_application(const Invocation&, config::Config);
/// Opens an application for a command that reads, or stores a change of a moment: with that access
/// where another process works on the database.
Result<SessionOfCommand> open_beside(const Invocation&, config::Config, daemon::Access);

/// A daemon, or else the command itself.
using WhoWorks = std::variant<control::ControlClient, SessionOfCommand>;
/// Returns who is to do work that may take hours; while another command works on the database,
/// waits and says so. Errors: cancelled; those of ControlClient::find and Application::open.
Result<WhoWorks> find_who_works(const Invocation&, const config::Config&);
/// Opens an application for a command that measures and only prints. Where another process works on
/// the database it has one of its own, which ends with the command: what is measured is not stored
/// then. Errors: those of reserve_disk as well.
Result<SessionOfCommand> open_for_measuring(const Invocation&, config::Config);
/// Makes place for work on the disk of [build] cache; beside a daemon it only looks, since the
/// cache is the daemon's. Errors: those of health::require_disk_reserve.
Status reserve_disk(SessionOfCommand&);
/// Takes the machine's lock; while somebody else measures, waits and says so. Call it before a
/// build is fetched or made: both disturb who measures. Errors: cancelled; those of
/// Application::lock_machine but conflict.
Status wait_for_machine(SessionOfCommand&, std::stop_token stop);
/// Finds the build that a person named; without a name the newest that is ready and still lies
/// where it was. Errors: those of daemon::resolve_build; not_found, saying how to get one.
Result<storage::BuildRow> named_or_newest(const Invocation&, SessionOfCommand&,
                                          const std::string& name);
/// Opens the application of the daemon, which logs as [log] or --log-level say and shows no
/// progress; SIGUSR1 has it log what is being done. Errors: also conflict, naming a daemon that
/// runs already.
Result<SessionOfCommand> open_daemon_session(const Invocation&);

}  // namespace torchwatch::commands
