#pragma once

#include <filesystem>
#include <string>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::storage {

/// One writing process a database, by flock on `<database>.lock`. The kernel frees it with the
/// process; the file stays (removing it would let two processes lock two files of one name).
class WriterLock {
 public:
  WriterLock() = default;  ///< holds nothing

  /// Errors: conflict, naming the holder's process and command; unavailable.
  static Result<WriterLock> acquire(const std::filesystem::path& database);

 private:
  explicit WriterLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// "4711 (torchwatch serve)": this process, as a message names it.
std::string name_of_this_process();

}  // namespace torchwatch::storage
