#include "torchwatch/commands/application_command.hpp"

#include <unistd.h>

#include "torchwatch/terminal/screen.hpp"
#include "torchwatch/terminal/terminal_progress.hpp"

namespace torchwatch::commands {
namespace {

SessionOfCommand session_of(const Invocation& invocation, const config::Config& config,
                            std::unique_ptr<comparison::Progress> progress, log::Level level) {
  SessionOfCommand session;
  const log::LogSettings settings{invocation.log_level.value_or(level), config.log.format};
  session.log = std::make_unique<log::Log>(settings, invocation.err);
  session.progress = std::move(progress);
  return session;
}

Result<SessionOfCommand> open(const Invocation& invocation, config::Config config,
                              std::unique_ptr<comparison::Progress> progress, log::Level level) {
  auto opened = session_of(invocation, config, std::move(progress), level);
  TW_TRY(opened.application,
         daemon::Application::open(std::move(config), *opened.progress, *opened.log));
  return opened;
}

std::unique_ptr<comparison::Progress> progress_on_terminal(const Invocation& invocation) {
  terminal::ProgressSettings settings;
  settings.is_terminal = terminal::screen_of(STDERR_FILENO).is_terminal;
  settings.columns = [] { return terminal::screen_of(STDERR_FILENO).columns; };
  return std::make_unique<terminal::TerminalProgress>(invocation.err, std::move(settings));
}

}  // namespace

Result<SessionOfCommand> open_application(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  return open_application(invocation, std::move(config));
}

Result<SessionOfCommand> open_application(const Invocation& invocation, config::Config config) {
  return open(invocation, std::move(config), progress_on_terminal(invocation), log::Level::warning);
}

Result<SessionOfCommand> open_for_reading(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  auto writer = open_application(invocation, config);
  if (writer || writer.error().code != ErrorCode::conflict) return writer;
  auto reader =
      session_of(invocation, config, progress_on_terminal(invocation), log::Level::warning);
  TW_TRY(reader.application,
         daemon::Application::open_for_reading(std::move(config), *reader.progress, *reader.log));
  return reader;
}

Result<SessionOfCommand> open_daemon_session(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  const auto level = config.log.level;
  return open(invocation, std::move(config), std::make_unique<comparison::Silence>(), level);
}

}  // namespace torchwatch::commands
