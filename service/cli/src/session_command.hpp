#pragma once

#include <memory>

#include "commands.hpp"
#include "terminal_progress.hpp"
#include "torchwatch/daemon/session.hpp"

namespace torchwatch::cli {

/// A session for the length of one command, with its progress on the terminal.
struct SessionOfCommand {
  std::unique_ptr<TerminalProgress> progress;
  std::unique_ptr<daemon::Session> session;

  nightly::Workshop& workshop() const { return session->workshop(); }
};

/// Errors as daemon::Session::open has them; a database or machine in use says what to do.
Result<SessionOfCommand> open_session(const Invocation&);
Result<SessionOfCommand> open_session(const Invocation&, config::Config);

}  // namespace torchwatch::cli
