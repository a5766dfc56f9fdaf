#pragma once

#include <filesystem>
#include <string>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::storage {

/// Lets one process work on a database, by flock on `<database>.lock`. The kernel releases it with
/// the process. The file stays: removing it would let two processes lock two files of one name.
class WriterLock {
 public:
  WriterLock() = default;  ///< holds no lock

  /// Takes the lock. Errors: conflict, naming the holder's process and command; unavailable.
  static Result<WriterLock> acquire(const std::filesystem::path& database);
  /// Returns the file that is locked for a database.
  static std::filesystem::path file_of(const std::filesystem::path& database);

 private:
  explicit WriterLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// Returns this process as messages name it: "4711 (torchwatch serve)".
std::string name_of_this_process();

}  // namespace torchwatch::storage
