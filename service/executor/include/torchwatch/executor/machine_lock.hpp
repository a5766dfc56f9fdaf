#pragma once

#include <string>
#include <utility>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::executor {

/// Allows one measuring pipeline per machine. The lock is a listening socket of an abstract name:
/// nothing is left on disk, the kernel frees it with the process, and a connection shows the
/// holder's pid.
class MachineLock {
 public:
  /// Takes the lock or fails at once. Errors: conflict, naming the holder ("process 4711
  /// (torchwatch serve ...) is measuring"), invalid (the name), unavailable.
  static Result<MachineLock> acquire(const std::string& name);

 private:
  explicit MachineLock(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace torchwatch::executor
