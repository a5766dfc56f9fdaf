#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::doors {

// By system call: glibc 2.36's <sys/pidfd.h> lacks extern "C" and does not link from C++.

/// Not open when there is no such process.
inline UniqueFd open_process(pid_t pid) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
}

inline void signal_process(const UniqueFd& process, int signal) {
  syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0U);
}

}  // namespace torchwatch::doors
