#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <span>
#include <thread>

#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/terminal/output.hpp"

namespace {

/// As shells say of a command that a closed pipe ended: 128 and the number of SIGPIPE.
constexpr int kReaderGone = 141;

/// SIGINT, SIGTERM and SIGHUP (the terminal was closed) end the work in good order: every thread
/// has them blocked, and this one waits for them. A second one ends the process at once.
void watch_signals(sigset_t signals, std::stop_source stop) {
  int received = 0;
  sigwait(&signals, &received);
  stop.request_stop();
  sigwait(&signals, &received);
  std::_Exit(130);
}

int run(std::span<const char* const> arguments, std::stop_token stop) {
  using namespace torchwatch;
  terminal::Output output(STDOUT_FILENO);
  std::ostream out(&output);
  terminal::Output errors(STDERR_FILENO);
  std::ostream err(&errors);
  err << std::unitbuf;
  const cli::Screens screens{.out = terminal::screen_of(STDOUT_FILENO),
                             .err = [] { return terminal::screen_of(STDERR_FILENO); }};
  const int status = cli::run(arguments, out, err, std::move(stop), screens);
  const auto written = output.finish();
  if (written) return *written ? status : kReaderGone;
  std::cerr << "torchwatch: " << written.error().message << '\n';
  return 3;
}

}  // namespace

int main(int count, char** values) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  const std::stop_source stop;
  std::thread(watch_signals, signals, stop).detach();
  try {
    const std::span arguments(const_cast<const char**>(values), static_cast<std::size_t>(count));
    return run(arguments, stop.get_token());
  } catch (const std::exception& exception) {
    std::cerr << "torchwatch: internal error: " << exception.what() << '\n';
    return 3;
  }
}
