#pragma once

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>

#include "process_tag.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::process {

/// A child that has begun to execute its program, leader of a process group of its own.
struct SpawnedChild {
  pid_t pid = 0;
  UniqueFd process;  ///< pidfd: readable when it has ended
  UniqueFd output;   ///< its stdout and stderr, non-blocking
  UniqueFd status;   ///< of a launcher: what it reports, non-blocking
};

/// Starts the child. To be called from the supervisor's thread only: the kernel kills the child
/// when the thread that forked ends. The error says which step failed and why.
tl::expected<SpawnedChild, std::string> spawn(const ProcessSpec&, const std::string& owner,
                                              const ProcessTag&);

}  // namespace torchwatch::process
