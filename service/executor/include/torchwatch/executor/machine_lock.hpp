#pragma once

#include <memory>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::executor {

/// One measuring pipeline a machine. Held by a listening socket of an abstract name (nothing is
/// left on disk, the kernel frees it with the process, and a connection tells the holder's pid).
class MachineLock {
 public:
  /// Errors: conflict, naming the holder ("process 4711 (torchwatch serve ...) is measuring").
  static Result<MachineLock> acquire(const std::string& name);
  MachineLock(MachineLock&&) noexcept;
  MachineLock& operator=(MachineLock&&) noexcept;
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;
  ~MachineLock();

 private:
  explicit MachineLock(int socket) : socket_(socket) {}
  int socket_ = -1;
};

}  // namespace torchwatch::executor
