#include "orphans_posix.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "process_tag.hpp"

namespace torchwatch::process {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSweepLimit{5};

bool daemon_lives(const ProcessTag& tag) {
  const auto daemon = read_process(tag.daemon);
  return daemon && daemon->start_ticks == tag.daemon_start_ticks && !daemon->is_zombie();
}

bool is_of_earlier_daemon(const ProcessEntry& entry, const std::string& owner) {
  if (entry.is_zombie() || environment_value(entry.pid, kOwnerVariable) != owner) return false;
  const auto tag = parse_process_tag(environment_value(entry.pid, kRunVariable).value_or(""));
  return tag && !daemon_lives(*tag);
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

void OrphanFinder::remember(const std::vector<ProcessEntry>& tree) {
  for (const ProcessEntry& entry : tree) {
    if (entry.pid != leader_) seen_[entry.pid] = entry.start_ticks;
  }
}

bool OrphanFinder::is_root(const ProcessEntry& entry) const {
  if (entry.group == leader_ || entry.parent == leader_) return true;
  const auto seen = seen_.find(entry.pid);
  if (seen != seen_.end() && seen->second == entry.start_ticks) return true;
  return entry.parent == getpid() && environment_value(entry.pid, kRunVariable) == tag_;
}

std::vector<ProcessEntry> OrphanFinder::find(const std::vector<ProcessEntry>& table) {
  std::set<pid_t> found;
  for (const ProcessEntry& entry : table) {
    if (entry.pid != leader_ && is_root(entry)) found.insert(entry.pid);
  }
  // The table is in no useful order: go over it until no further descendant turns up.
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const ProcessEntry& entry : table) {
      if (found.contains(entry.parent) && entry.pid != leader_) found.insert(entry.pid);
    }
  }
  std::vector<ProcessEntry> orphans;
  for (const ProcessEntry& entry : table) {
    if (found.contains(entry.pid)) orphans.push_back(entry);
  }
  remember(orphans);
  return orphans;
}

void reap_adopted(const std::vector<ProcessEntry>& table, const std::set<pid_t>& leaders) {
  const pid_t own_session = getsid(0);
  for (const ProcessEntry& entry : table) {
    if (entry.parent != getpid() || !entry.is_zombie() || leaders.contains(entry.pid)) continue;
    if (leaders.contains(entry.group) || entry.session != own_session) {
      waitpid(entry.pid, nullptr, WNOHANG);
    }
  }
}

int kill_orphans_of_earlier_daemon(const std::string& owner) {
  const auto spared = own_line();
  std::vector<ProcessEntry> orphans;
  for (const ProcessEntry& entry : read_process_table()) {
    if (!spared.contains(entry.pid) && is_of_earlier_daemon(entry, owner)) orphans.push_back(entry);
  }
  for (const ProcessEntry& entry : orphans) kill_exactly(entry);
  const auto limit = SteadyClock::now() + kSweepLimit;
  for (const ProcessEntry& entry : orphans) wait_until_gone(entry, limit);
  return static_cast<int>(orphans.size());
}

}  // namespace torchwatch::process
