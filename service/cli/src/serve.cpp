#include <ostream>

#include "commands.hpp"
#include "session_command.hpp"
#include "torchwatch/daemon/daemon.hpp"

namespace torchwatch::cli {
namespace {

Outcome run_serve(const Invocation& invocation) {
  TW_TRY(auto opened, open_session(invocation));
  TW_TRY(const auto daemon, daemon::Daemon::start(*opened.session));
  opened.progress->note("listening on http://" + opened.session->config().web.address + ":" +
                        std::to_string(daemon->port()));
  TW_TRY_VOID(daemon->run(invocation.stop));
  opened.progress->note("stopped");
  return ExitStatus::done;
}

}  // namespace

void add_serve(Commands& commands) {
  commands.add("serve",
               "Run the daemon: the HTTP API, and every nightly without a verdict as it appears",
               run_serve);
}

}  // namespace torchwatch::cli
