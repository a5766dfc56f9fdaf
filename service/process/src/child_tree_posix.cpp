#include "child_tree_posix.hpp"

#include <signal.h>

#include <utility>

namespace torchwatch::process {

ChildTree::ChildTree(pid_t child, std::string tag, bool has_launcher, SignalGroup signal_group)
    : child_(child),
      has_launcher_(has_launcher),
      signal_group_(std::move(signal_group)),
      orphans_(child, std::move(tag)) {
  if (!signal_group_) signal_group_ = [](pid_t group, int signal) { ::kill(-group, signal); };
}

void ChildTree::ask_to_end() const {
  if (!has_launcher_) return signal_group_(child_, SIGTERM);
  for (const ProcessEntry& entry : read_process_tree(child_)) {
    if (entry.pid == child_ || entry.parent == child_) continue;
    const UniqueFd process = open_process(entry.pid);
    if (process.is_open()) signal_process(process, SIGTERM);
  }
}

void ChildTree::kill() {
  const auto orphans = orphans_.find(read_process_table());
  signal_group_(child_, SIGKILL);
  for (const ProcessEntry& orphan : orphans) {
    if (orphan.group != child_ && !orphan.is_zombie()) kill_exactly(orphan);
  }
}

bool ChildTree::clean(const std::set<pid_t>& leaders) {
  signal_group_(child_, SIGKILL);
  const auto table = read_process_table();
  const auto orphans = orphans_.find(table);
  bool is_clean = true;
  for (const ProcessEntry& orphan : orphans) {
    if (orphan.is_zombie()) continue;
    is_clean = false;
    kill_exactly(orphan);
  }
  reap_adopted(table, leaders);
  return is_clean;
}

std::optional<std::int64_t> ChildTree::bytes_over(std::int64_t limit) {
  const auto tree = read_process_tree(child_);
  orphans_.remember(tree);
  const auto sum = [&tree](auto measure) {
    std::int64_t bytes = 0;
    for (const ProcessEntry& entry : tree) bytes += measure(entry.pid);
    return bytes;
  };
  // Shared pages counted whole are an upper bound that costs little; the exact share, which makes
  // the kernel walk the child's page tables, is asked for only when it can matter.
  if (sum(resident_bytes) <= limit) return std::nullopt;
  const std::int64_t bytes = sum(proportional_bytes);
  return bytes > limit ? std::optional(bytes) : std::nullopt;
}

}  // namespace torchwatch::process
