#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/health/problem.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::health {

/// What does not work at present: what the daemon noted, and what is stored. Thread-safe: the
/// daemon writes, the server's threads read.
class Health {
 public:
  /// What is passed must outlive the object.
  Health(storage::Database& database, const platform::Clock& clock)
      : database_(database), clock_(clock) {}

  /// Notes or, with no problem, ends the problem of a source that concerns the whole service.
  /// Returns whether that changes anything, and is worth a line in the log.
  bool note(const std::string& source, const std::string& problem);
  /// Returns what is noted, then the stored problems as they are now.
  std::vector<Problem> problems() const;

 private:
  std::vector<Problem> noted() const;

  storage::Database& database_;
  const platform::Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Problem> noted_;
};

}  // namespace torchwatch::health
