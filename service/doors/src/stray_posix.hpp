#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "process_table_posix.hpp"

namespace torchwatch::doors {

/// Finds what a child left behind: members of its group, its descendants, and those that left
/// group and tree (double fork, setsid) and were adopted by this process, its subreaper.
class StrayFinder {
 public:
  /// `mark`: the child's TORCHWATCH_RUN, which descendants inherit.
  StrayFinder(pid_t leader, std::string mark) : leader_(leader), mark_(std::move(mark)) {}

  /// Remembers descendants seen alive, so that one that later cleans its environment is known.
  void remember(const std::vector<ProcessEntry>& tree);

  /// Everything of the child's but itself, zombies included.
  std::vector<ProcessEntry> find(const std::vector<ProcessEntry>& table) const;

 private:
  bool is_root(const ProcessEntry&) const;

  pid_t leader_;
  std::string mark_;
  std::map<pid_t, std::uint64_t> seen_;  ///< pid and start
};

/// Reaps, by pid only, zombies that this process adopted; others in this process may wait for
/// children of their own (libraries that fork), so those of our session are left alone.
void reap_adopted(const std::vector<ProcessEntry>& table, const std::set<pid_t>& leaders);

}  // namespace torchwatch::doors
