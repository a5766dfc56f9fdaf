#pragma once

#include <string>
#include <utility>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::executor {

/// Allows one measuring pipeline per machine. A name stands for a listening socket of an abstract
/// name: every user of the machine may hold it, nothing is left on disk, and the kernel itself says
/// who does. An absolute path stands for a locked file: who may write to it may hold it, nobody
/// else. Both end with the process.
class MachineLock {
 public:
  /// Takes the lock or fails at once. Errors: conflict, when a process of this user or of root
  /// holds it; unavailable, when one of another user does, or the file cannot be used (both name
  /// the holder: "process 4711 of ada (torchwatch serve ...) is measuring"); invalid (the name).
  static Result<MachineLock> acquire(const std::string& name);

 private:
  explicit MachineLock(UniqueFd held) : held_(std::move(held)) {}
  UniqueFd held_;
};

}  // namespace torchwatch::executor
