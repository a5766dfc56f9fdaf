#include "commands.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/database/newer_program.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/process_limits.hpp"
#include "torchwatch/standby/standby.hpp"

namespace torchwatch::cli {
namespace {

/// Opens the database, which may have to be migrated, while whoever asks learns to wait. Where a
/// newer program has written it, that is said until the daemon is stopped.
Result<commands::SessionOfCommand> open_answering(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  const platform::SystemClock clock;
  auto standby = standby::answer(
      config, clock, "the database is being opened, and brought to this program's version");
  auto opened = commands::open_daemon_session(invocation);
  if (opened || !standby || !storage::is_of_newer_program(config.storage.path)) return opened;
  standby.reset();
  standby = standby::answer(config, clock,
                            "a newer torchwatch has written the database: run that one, or restore "
                            "the copy that it made before");
  invocation.err << "error: " << opened.error().text()
                 << "\nHTTP answers so until this is stopped\n"
                 << std::flush;
  while (!invocation.stop.stop_requested()) clock.wait(std::chrono::hours(1), invocation.stop);
  return opened;
}

Outcome run_serve(const Invocation& invocation) {
  platform::keep_memory_low();
  TW_TRY(auto opened, open_answering(invocation));
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
