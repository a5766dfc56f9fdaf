#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <thread>

#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/signals/orders.hpp"
#include "torchwatch/terminal/output.hpp"

namespace {

/// As shells say of a command that a closed pipe ended: 128 and the number of SIGPIPE.
constexpr int kReaderGone = 141;

/// Every thread has the signals blocked, and this one waits for them; SIGHUP says that the terminal
/// was closed.
void watch_signals(sigset_t signals, const std::shared_ptr<torchwatch::signals::Orders>& orders) {
  int received = 0;
  do {
    sigwait(&signals, &received);
  } while (orders->take(received, std::chrono::steady_clock::now()));
  std::_Exit(130);
}

int run(std::span<const char* const> arguments, torchwatch::signals::Orders& orders) {
  using namespace torchwatch;
  const auto key = platform::SystemRandom().token();
  terminal::Output output(STDOUT_FILENO, key);
  std::ostream out(&output);
  terminal::Output errors(STDERR_FILENO);
  std::ostream err(&errors);
  err << std::unitbuf;
  cli::Screens screens{.out = terminal::screen_of(STDOUT_FILENO),
                       .err = [] { return terminal::screen_of(STDERR_FILENO); }};
  screens.out.key = key;
  const int status = cli::run(arguments, out, err, orders.stop(), screens, &orders);
  const auto written = output.finish();
  if (written) return *written ? status : kReaderGone;
  std::cerr << "torchwatch: " << written.error().text() << '\n';
  return 3;
}

}  // namespace

int main(int count, char** values) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  const auto orders = std::make_shared<torchwatch::signals::Orders>();
  std::thread(watch_signals, signals, orders).detach();
  try {
    const std::span arguments(const_cast<const char**>(values), static_cast<std::size_t>(count));
    return run(arguments, *orders);
  } catch (const std::exception& exception) {
    std::cerr << "torchwatch: internal error: " << exception.what() << '\n';
    return 3;
  }
}
