#include "application_command.hpp"

#include <unistd.h>

#include "terminal_progress.hpp"

namespace torchwatch::cli {
namespace {

Result<SessionOfCommand> open(const Invocation& invocation, config::Config config,
                              std::unique_ptr<comparison::Progress> progress, log::Level level) {
  SessionOfCommand opened;
  const log::LogSettings settings{invocation.log_level.value_or(level), config.log.format};
  opened.log = std::make_unique<log::Log>(settings, invocation.err);
  opened.progress = std::move(progress);
  TW_TRY(opened.application,
         daemon::Application::open(std::move(config), *opened.progress, *opened.log));
  return opened;
}

}  // namespace

Result<SessionOfCommand> open_application(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  return open_application(invocation, std::move(config));
}

Result<SessionOfCommand> open_application(const Invocation& invocation, config::Config config) {
  auto progress = std::make_unique<TerminalProgress>(invocation.err, isatty(STDERR_FILENO) == 1);
  return open(invocation, std::move(config), std::move(progress), log::Level::warning);
}

Result<SessionOfCommand> open_daemon_session(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  const auto level = config.log.level;
  return open(invocation, std::move(config), std::make_unique<comparison::Silence>(), level);
}

}  // namespace torchwatch::cli
