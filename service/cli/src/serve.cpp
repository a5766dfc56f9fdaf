#include "commands.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/daemon/daemon.hpp"

namespace torchwatch::cli {
namespace {

Outcome run_serve(const Invocation& invocation) {
  TW_TRY(auto opened, commands::open_daemon_session(invocation));
  TW_TRY(const auto daemon, daemon::Daemon::start(*opened.application));
  TW_TRY_VOID(daemon->run(invocation.stop));
  return ExitStatus::done;
}

}  // namespace

void add_serve(Commands& all) {
  all.add("serve",
          "Run the daemon: it serves the HTTP API and measures each new nightly as it appears",
          run_serve)
      .footer("torchwatch serve --config /etc/torchwatch/torchwatch.toml");
}

}  // namespace torchwatch::cli
