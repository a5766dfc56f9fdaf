#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::health {

/// What the service is doing.
struct Doing {
  std::string what;  ///< "preparing the runner of 2026-08-17"; may be empty
  std::optional<storage::Id> comparison = {};  ///< the one that it works on
  storage::WallMillis since = 0;
};

/// Remembers what is being done. Thread-safe: the pipeline writes, the server's threads read.
class Activity {
 public:
  /// The clock must outlive the object.
  explicit Activity(const platform::Clock& clock) : clock_(clock) {}

  void comparison_started(storage::Id);
  void comparison_ended();
  void step_started(const std::string& what);
  void clear();  ///< nothing is done now
  Doing now() const;

 private:
  const platform::Clock& clock_;
  mutable std::mutex mutex_;
  Doing doing_;
};

}  // namespace torchwatch::health
