#pragma once

#include <signal.h>

#include <cerrno>
#include <fstream>

#include "supervisor_posix.hpp"

namespace torchwatch::test {

using namespace std::chrono_literals;

/// Runs `bad_child VERBS...`; limits that no test reaches by chance.
inline process::ProcessSpec bad_child(std::vector<std::string> verbs) {
  process::ProcessSpec spec{};
  spec.program = TORCHWATCH_BAD_CHILD;
  spec.arguments = std::move(verbs);
  spec.time_limit = 60s;
  spec.output_limit_bytes = 1U << 20U;
  spec.label = "attempt-1";
  return spec;
}

/// Quick where nothing depends on it, patient where chance would decide.
inline process::SupervisorSettings quick() {
  process::SupervisorSettings settings;
  settings.grace = 20ms;
  settings.drain = 20ms;
  settings.kill_every = 5ms;
  settings.sample_every = 5ms;
  return settings;
}

inline pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

inline bool is_gone(pid_t pid) {
  return kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace torchwatch::test
