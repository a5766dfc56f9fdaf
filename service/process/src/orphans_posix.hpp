#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "process_table_posix.hpp"

namespace torchwatch::process {

/// Finds what a child leaves behind: members of its group, its descendants, and processes that left
/// both (double fork, setsid) and were adopted by this process, the subreaper.
class OrphanFinder {
 public:
  /// `tag`: the child's TORCHWATCH_RUN, which descendants inherit.
  OrphanFinder(pid_t leader, std::string tag) : leader_(leader), tag_(std::move(tag)) {}

  /// Remembers descendants seen alive, so that one that later cleans its environment is known.
  void remember(const std::vector<ProcessEntry>& tree);

  /// Returns everything that belongs to the child except itself, zombies included, and remembers
  /// it: a process that is dying has no environment any more, and is not a zombie yet.
  std::vector<ProcessEntry> find(const std::vector<ProcessEntry>& table);

 private:
  bool is_root(const ProcessEntry&) const;

  pid_t leader_;
  std::string tag_;
  std::map<pid_t, std::uint64_t> seen_;  ///< pid and start
};

/// Reaps, by pid only, zombies that this process adopted; others in this process may wait for
/// children of their own (libraries that fork), so those of our session are left alone.
void reap_adopted(const std::vector<ProcessEntry>& table, const std::set<pid_t>& leaders);

/// Kills every process that a daemon with this `owner` started and that outlived it, and waits at
/// most 5 s for their ends: an orphan would disturb what is measured next. The children of a daemon
/// that still runs are spared. Returns the number of orphans found.
int kill_orphans_of_earlier_daemon(const std::string& owner);

}  // namespace torchwatch::process
