#include "leftovers_posix.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "pidfd_posix.hpp"
#include "process_table_posix.hpp"
#include "run_mark.hpp"

namespace torchwatch::doors {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSweepLimit{5};

bool daemon_lives(const RunMark& mark) {
  const auto daemon = read_process(mark.daemon);
  return daemon && daemon->start_ticks == mark.daemon_start_ticks && !daemon->is_zombie();
}

bool is_leftover(const ProcessEntry& entry, const std::string& owner) {
  if (entry.is_zombie() || environment_value(entry.pid, kOwnerVariable) != owner) return false;
  const auto mark = parse_run_mark(environment_value(entry.pid, kRunVariable).value_or(""));
  return mark && !daemon_lives(*mark);
}

/// This process and those above it: a torchwatch may itself run inside a torchwatch's child.
std::set<pid_t> own_line() {
  std::set<pid_t> line;
  for (auto entry = read_process(getpid()); entry; entry = read_process(entry->parent)) {
    if (!line.insert(entry->pid).second || entry->parent == 0) break;
  }
  return line;
}

void wait_until_gone(const ProcessEntry& entry, SteadyClock::time_point limit) {
  const UniqueFd process = open_process(entry.pid);
  if (!process.is_open()) return;
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(limit - SteadyClock::now());
  poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  waitpid(entry.pid, nullptr, WNOHANG);  // in case it was adopted by this process
}

}  // namespace

int sweep_leftovers(const std::string& owner) {
  const auto spared = own_line();
  std::vector<ProcessEntry> leftovers;
  for (const ProcessEntry& entry : read_process_table()) {
    if (!spared.contains(entry.pid) && is_leftover(entry, owner)) leftovers.push_back(entry);
  }
  for (const ProcessEntry& entry : leftovers) kill_exactly(entry);
  const auto limit = SteadyClock::now() + kSweepLimit;
  for (const ProcessEntry& entry : leftovers) wait_until_gone(entry, limit);
  return static_cast<int>(leftovers.size());
}

}  // namespace torchwatch::doors
