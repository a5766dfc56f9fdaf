#pragma once

#include <filesystem>
#include <mutex>
#include <stop_token>
#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::daemon {

/// How the names of backups begin. No child of foreign code sees such a file.
inline constexpr const char* kBackupsBegin = "torchwatch-";

/// What is done with the whole database for somebody who asks over HTTP, on a connection of its
/// own: nobody waits for it. One thing at a time. Thread-safe.
class DatabaseUpkeep {
 public:
  /// What is passed must outlive the object.
  DatabaseUpkeep(const config::Config& config, const platform::Clock& clock)
      : config_(config), clock_(clock) {}

  /// Copies the database into a new file in the folder of backups, checked whole, and returns its
  /// path. Errors: conflict (another backup or check is under way), unavailable (also with less
  /// than [build] disk_reserve free), corrupt.
  Result<std::filesystem::path> back_up();

  /// Returns which rules stored rows break. Errors: conflict (likewise), cancelled (the service
  /// ends), unavailable, damaged.
  Result<std::vector<storage::InvariantBreach>> check();

  /// Has a check that is under way, and each later one, end at once.
  void end() { ending_.request_stop(); }

 private:
  const config::Config& config_;
  const platform::Clock& clock_;
  std::mutex busy_;
  std::stop_source ending_;
};

}  // namespace torchwatch::daemon
