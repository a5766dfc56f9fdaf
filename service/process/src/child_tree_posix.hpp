#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "orphans_posix.hpp"

namespace torchwatch::process {

/// Sends a signal to a process group.
using SignalGroup = std::function<void(pid_t group, int signal)>;

/// A child and everything that it started: signalled and measured as one. Never blocks.
class ChildTree {
 public:
  /// `tag`: the child's TORCHWATCH_RUN. `has_launcher`: the child is a launcher, and its program a
  /// descendant. `signal_group`: empty for kill(-group, signal).
  ChildTree(pid_t child, std::string tag, bool has_launcher, SignalGroup signal_group);

  /// Sends SIGTERM. Spares a launcher and the first process in its sandbox: with them the program
  /// would be killed, before it can clean up.
  void ask_to_end() const;
  /// Sends SIGKILL to all of it.
  void kill();
  /// Kills what an ended child left behind, and reaps what this process adopted: neither the child
  /// nor another of the `leaders`. Returns whether nothing was left but zombies.
  bool clean(const std::set<pid_t>& leaders);
  /// Returns how many bytes are resident if they are more than `limit`.
  std::optional<std::int64_t> bytes_over(std::int64_t limit);

 private:
  pid_t child_;
  bool has_launcher_;
  SignalGroup signal_group_;
  OrphanFinder orphans_;
};

}  // namespace torchwatch::process
