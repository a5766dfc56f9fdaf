// torchwatch-carry: carries out one order on a node. The order comes in on standard input as one
// line of JSON, the answer goes out on standard output (torchwatch/cluster/order.hpp).
//
// Exit status: 0 whatever came of the order, 1 the order cannot be read, 2 ended by SIGTERM.
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <thread>

#include "torchwatch/cluster/carry.hpp"

namespace cluster = torchwatch::cluster;

namespace {

std::string read_input() {
  std::string text;
  std::array<char, 1U << 16U> block{};
  while (text.size() <= cluster::kOrderBytesMax) {
    const ssize_t got = read(STDIN_FILENO, block.data(), block.size());
    if (got <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

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

}  // namespace

int main() {
  const auto signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const auto order = cluster::parse_order(read_input());
  if (!order) {
    std::fprintf(stderr, "torchwatch-carry: %s\n", order.error().text().c_str());
    return 1;
  }
  std::stop_source stop;
  std::jthread ender([&] {
    for (int signal = 0; sigwait(&signals, &signal) == 0 && signal != kDone;) stop.request_stop();
  });
  cluster::carry(*order, say, stop.get_token());
  pthread_kill(ender.native_handle(), kDone);
  ender.join();
  return stop.stop_requested() ? 2 : 0;
}
