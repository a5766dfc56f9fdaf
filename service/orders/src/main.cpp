// torchwatch-carry: carries out orders on a node, one after the other, until its input ends. An
// order comes in on standard input as one line of JSON, the answer goes out on standard output
// (torchwatch/orders/order.hpp). With the argument `process` the one order is a program to run,
// such as a build's recipe. `look SCRATCH PATH...` reads nothing and says what `torchwatch check`
// wants to know of a node.
//
// Exit status: 0 whatever came of the orders, 1 an order cannot be read, 2 ended by SIGTERM.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "lines.hpp"
#include "torchwatch/orders/carry.hpp"
#include "torchwatch/orders/node_look.hpp"

namespace orders = torchwatch::orders;

namespace {

void say(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

constexpr int kDone = SIGUSR1;  ///< what this process tells itself

/// The signals by which Slurm ends a step; every thread has them blocked.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, kDone);
  return signals;
}

/// Errors: those of an order.
torchwatch::Status carry_orders(orders::Lines& lines, const std::stop_token& stop) {
  for (;;) {
    TW_TRY(const auto line, lines.next());
    if (!line) return {};
    TW_TRY(const auto order, orders::parse_order(*line));
    orders::carry(order, say, stop);
  }
}

/// Errors: those of the order.
torchwatch::Status carry_process(orders::Lines& lines, const std::stop_token& stop) {
  TW_TRY(const auto line, lines.next());
  if (!line) return {};
  TW_TRY(const auto order, orders::parse_process_order(*line));
  orders::carry(order, say, stop);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::filesystem::path> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "look") {
    say(to_json(orders::look_here(arguments[1], {arguments.begin() + 2, arguments.end()})));
    return 0;
  }
  const auto signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::stop_source stop;
  std::jthread ender([&] {
    for (int signal = 0; sigwait(&signals, &signal) == 0 && signal != kDone;) stop.request_stop();
  });
  const bool is_process = !arguments.empty() && arguments[0] == "process";
  orders::Lines lines(STDIN_FILENO, stop.get_token());
  const auto carried =
      is_process ? carry_process(lines, stop.get_token()) : carry_orders(lines, stop.get_token());
  pthread_kill(ender.native_handle(), kDone);
  ender.join();
  if (!carried) {
    std::fprintf(stderr, "torchwatch-carry: %s\n", carried.error().text().c_str());
    return 1;
  }
  return stop.stop_requested() ? 2 : 0;
}
