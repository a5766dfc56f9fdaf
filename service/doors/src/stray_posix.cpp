#include "stray_posix.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "run_mark.hpp"

namespace torchwatch::doors {

void StrayFinder::remember(const std::vector<ProcessEntry>& tree) {
  for (const ProcessEntry& entry : tree) {
    if (entry.pid != leader_) seen_[entry.pid] = entry.start_ticks;
  }
}

bool StrayFinder::is_root(const ProcessEntry& entry) const {
  if (entry.group == leader_ || entry.parent == leader_) return true;
  const auto seen = seen_.find(entry.pid);
  if (seen != seen_.end() && seen->second == entry.start_ticks) return true;
  return entry.parent == getpid() && environment_value(entry.pid, kRunVariable) == mark_;
}

std::vector<ProcessEntry> StrayFinder::find(const std::vector<ProcessEntry>& table) const {
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
  std::vector<ProcessEntry> strays;
  for (const ProcessEntry& entry : table) {
    if (found.contains(entry.pid)) strays.push_back(entry);
  }
  return strays;
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

}  // namespace torchwatch::doors
