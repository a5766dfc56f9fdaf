#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::process {

/// One line of the kernel's process table, from /proc/PID/stat.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';  ///< of the main thread
  int threads = 0;   ///< that have not ended; a main thread that ended counts until the last has
  std::uint64_t start_ticks = 0;  ///< with the pid it names one process for as long as we are up
  /// All of it has ended. While other threads live, or are still dying, an ended main thread is not
  /// a zombie: it can neither be reaped, nor have its children been handed on.
  bool is_zombie() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

/// Returns nothing if there is no such process (any more).
std::optional<ProcessEntry> read_process(pid_t);

/// Every process of this pid namespace. Costs about 10 us a process: not for polling.
std::vector<ProcessEntry> read_process_table();

/// The process and all its descendants, by the kernel's lists of children: cheap enough to poll.
std::vector<ProcessEntry> read_process_tree(pid_t root);

/// The variable's value in the environment that the process was started with.
std::optional<std::string> environment_value(pid_t, std::string_view name);

/// Resident bytes; shared pages counted whole. 0 when the process is gone.
std::int64_t resident_bytes(pid_t);
/// The process's proportional share of its pages (dearer: the kernel walks its page tables);
/// resident_bytes() where the kernel does not say.
std::int64_t proportional_bytes(pid_t);

// By system call: glibc 2.36's <sys/pidfd.h> lacks extern "C" and does not link from C++.

/// Not open when there is no such process.
inline UniqueFd open_process(pid_t pid) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
}

inline void signal_process(const UniqueFd& process, int signal) {
  syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0U);
}

/// Sends SIGKILL to exactly this process, not to another one that got its pid meanwhile.
void kill_exactly(const ProcessEntry&);

}  // namespace torchwatch::process
