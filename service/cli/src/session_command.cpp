#include "session_command.hpp"

#include <unistd.h>

namespace torchwatch::cli {

Result<SessionOfCommand> open_session(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  return open_session(invocation, std::move(config));
}

Result<SessionOfCommand> open_session(const Invocation& invocation, config::Config config) {
  SessionOfCommand opened;
  opened.progress = std::make_unique<TerminalProgress>(invocation.err, isatty(STDERR_FILENO) == 1);
  TW_TRY(opened.session, daemon::Session::open(std::move(config), *opened.progress));
  return opened;
}

}  // namespace torchwatch::cli
