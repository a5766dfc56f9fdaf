#pragma once

#include <memory>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/daemon/application.hpp"

namespace torchwatch::commands {

/// A application for the length of one command, with its log and its progress on standard error.
struct SessionOfCommand {
  std::unique_ptr<log::Log> log;
  std::unique_ptr<comparison::Progress> progress;
  std::unique_ptr<daemon::Application> application;

  comparison::Services& services() const { return application->services(); }
};

/// Opens a application that shows its progress on the terminal and logs warnings, or as --log-level
/// says. Errors: those of daemon::Application::open.
Result<SessionOfCommand> open_application(const Invocation&);
Result<SessionOfCommand> open_application(const Invocation&, config::Config);
/// Opens a application for a command that stores nothing it needs: for reading where a daemon holds
/// the database.
Result<SessionOfCommand> open_for_reading(const Invocation&);
/// Opens the application of the daemon, which logs as [log] or --log-level say and shows no
/// progress.
Result<SessionOfCommand> open_daemon_session(const Invocation&);

}  // namespace torchwatch::commands
