#include "torchwatch/commands/application_command.hpp"

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "torchwatch/caches/caches.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/database/writer.hpp"
#include "torchwatch/health/problem.hpp"
#include "torchwatch/platform/passing_folder.hpp"
#include "torchwatch/report/newest_build.hpp"
#include "torchwatch/requests/names.hpp"
#include "torchwatch/terminal/progress_state.hpp"
#include "torchwatch/terminal/terminal_progress.hpp"

namespace torchwatch::commands {
namespace {

SessionOfCommand session_of(const Invocation& invocation, const config::Config& config,
                            log::Level level) {
  SessionOfCommand session;
  const log::LogSettings settings{invocation.log_level.value_or(level), config.log.format};
  session.log = std::make_unique<log::Log>(settings, invocation.err);
  return session;
}

std::unique_ptr<terminal::TerminalProgress> progress_on_terminal(const Invocation& invocation) {
  return std::make_unique<terminal::TerminalProgress>(invocation.err, invocation.progress);
}

/// The session of a command that shows its progress, without an application yet.
SessionOfCommand session_on_terminal(const Invocation& invocation, const config::Config& config) {
  auto session = session_of(invocation, config, log::Level::warning);
  auto progress = progress_on_terminal(invocation);
  session.listening = std::make_unique<signals::Listening>(
      invocation.orders, [shown = progress.get()](signals::Order order) {
        if (order == signals::Order::say_state) return shown->say_state();
        shown->say("ending after the run that is under way; interrupt again to end at once");
      });
  session.progress = std::move(progress);
  return session;
}

/// The session of the daemon, without an application yet.
SessionOfCommand session_in_log(const Invocation& invocation, const config::Config& config) {
  auto session = session_of(invocation, config, config.log.level);
  auto progress = std::make_unique<terminal::UnshownProgress>();
  session.listening = std::make_unique<signals::Listening>(
      invocation.orders,
      [kept = progress.get(), logger = session.log->logger("serve")](signals::Order order) {
        if (order != signals::Order::say_state) return;
        for (const auto& line : kept->state()) logger.info(line);
      });
  session.progress = std::move(progress);
  return session;
}

Status open(SessionOfCommand& session, config::Config config) {
  TW_TRY(session.application,
         daemon::Application::open(std::move(config), *session.progress, *session.log));
  return {};
}

/// Looks again each second for what somebody else has, and says once what it waits for.
class Waiting {
 public:
  Waiting(comparison::Progress& progress, std::stop_token stop)
      : progress_(progress), stop_(std::move(stop)) {}

  /// Errors: cancelled.
  Status a_second(const std::string& why) {
    constexpr std::chrono::seconds kLookAgainAfter{1};
    if (!is_said_) progress_.log("waiting: " + why);
    is_said_ = true;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    stopped.wait_for(lock, stop_, kLookAgainAfter, [] { return false; });
    if (!stop_.stop_requested()) return {};
    return fail(ErrorCode::cancelled, "interrupted before measuring");
  }

 private:
  comparison::Progress& progress_;
  const std::stop_token stop_;
  bool is_said_ = false;
};

Result<storage::BuildRow> newest(storage::Database& database) {
  TW_TRY(auto newest, report::newest_build(database));
  if (newest) return *std::move(newest);
  return fail(ErrorCode::not_found, "no build is known yet",
              "name one with --build (a folder or a release such as 2.13.0), "
              "or get one with `torchwatch build fetch`");
}

}  // namespace

Result<SessionOfCommand> open_application(const Invocation& invocation, config::Config config) {
  auto opened = session_on_terminal(invocation, config);
  TW_TRY_VOID(open(opened, std::move(config)));
  if (invocation.orders != nullptr) opened.services().last_run = &invocation.orders->last_run();
  return opened;
}

Result<SessionOfCommand> open_beside(const Invocation& invocation, config::Config config,
                                     daemon::Access access) {
  auto worker = open_application(invocation, config);
  if (worker || worker.error().code != ErrorCode::conflict) return worker;
  auto beside = session_on_terminal(invocation, config);
  TW_TRY(beside.application, daemon::Application::open_beside(std::move(config), access,
                                                              *beside.progress, *beside.log));
  return beside;
}

Result<WhoWorks> find_who_works(const Invocation& invocation, const config::Config& config) {
  const auto progress = progress_on_terminal(invocation);
  Waiting waiting(*progress, invocation.stop);
  while (true) {
    TW_TRY(auto daemon, control::ControlClient::find(config));
    if (daemon) return *std::move(daemon);
    auto opened = open_application(invocation, config);
    const auto other = opened ? std::nullopt : storage::writer_of(config.storage.path);
    if (opened) return *std::move(opened);
    if (!other || opened.error().code != ErrorCode::conflict) return fail(opened.error());
    TW_TRY_VOID(waiting.a_second("process " + *other +
                                 " works on this database; this begins as soon as it has ended"));
  }
}

Status reserve_disk(SessionOfCommand& session) {
  auto& application = *session.application;
  const bool is_own = !session.own_state && !application.is_reader();
  return is_own ? caches::reserve_disk(daemon::cache_parts(application))
                : health::require_disk_reserve(application.config());
}

Result<SessionOfCommand> open_for_measuring(const Invocation& invocation, config::Config config) {
  auto opened = open_application(invocation, config);
  if (opened) TW_TRY_VOID(reserve_disk(*opened));
  if (opened || opened.error().code != ErrorCode::conflict) return opened;
  TW_TRY(const auto daemon, control::ControlClient::find(config));
  if (!daemon && !storage::writer_of(config.storage.path)) return opened;
  TW_TRY(auto folder, platform::PassingFolder::make());
  config.storage.path = folder.path() / "torchwatch.sqlite";
  TW_TRY(auto beside, open_application(invocation, std::move(config)));
  beside.own_state = std::make_shared<platform::PassingFolder>(std::move(folder));
  TW_TRY_VOID(reserve_disk(beside));
  return beside;
}

Status wait_for_machine(SessionOfCommand& session, std::stop_token stop) {
  Waiting waiting(*session.progress, std::move(stop));
  while (true) {
    const auto locked = session.application->lock_machine();
    if (locked || locked.error().code != ErrorCode::conflict) return locked;
    TW_TRY_VOID(
        waiting.a_second(locked.error().text() + "; this begins as soon as nothing is due there"));
  }
}

Result<storage::BuildRow> named_or_newest(const Invocation& invocation, SessionOfCommand& session,
                                          const std::string& name) {
  auto& application = *session.application;
  if (!session.own_state) {
    if (!name.empty()) return daemon::resolve_build(application, name, invocation.stop);
    return newest(session.services().database);
  }
  // What the daemon's database knows is a folder to this one.
  TW_TRY(const auto database, open_reader(invocation));
  if (name.empty()) {
    TW_TRY(const auto row, newest(*database));
    return daemon::resolve_build(application, row.folder, invocation.stop);
  }
  TW_TRY(const auto stored, requests::known_build(*database, name));
  return daemon::resolve_build(application, stored ? stored->folder : name, invocation.stop);
}

Result<SessionOfCommand> open_daemon_session(const Invocation& invocation) {
  TW_TRY(auto config, invocation.load_config());
  auto opened = session_in_log(invocation, config);
  const auto done = open(opened, config);
  if (done) return opened;
  if (done.error().code != ErrorCode::conflict) return fail(done.error());
  const auto other = control::daemon_that_writes(config);
  if (other.empty()) return fail(done.error());
  return fail(
      ErrorCode::conflict,
      "database " + config.storage.path.string() + " is that of another daemon, process " + other,
      "stop that one, or use another [storage] path");
}

}  // namespace torchwatch::commands
