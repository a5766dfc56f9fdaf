#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/api/api.hpp"
#include "torchwatch/storage/alarm_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::daemon {

/// What does not work at present, for /healthz and the log. Thread-safe: the daemon writes, the
/// server's threads read.
class Health {
 public:
  /// Replaces what is known of all items by their stored setbacks.
  void set_items(const std::vector<storage::SetbackRow>&);
  /// Replaces what is known of the open alarms.
  void set_alarms(const std::vector<storage::AlarmRow>&);
  /// Sets or, with no problem, ends the problem of a source that concerns the whole service.
  /// Returns whether that changes anything, and is worth a line in the log.
  bool set_source(const std::string& source, const std::string& problem, storage::WallMillis now);
  std::vector<api::Problem> problems() const;

 private:
  struct Source {
    api::Problem shown;
    std::string detail;
  };

  mutable std::mutex mutex_;
  std::vector<api::Problem> items_;
  std::vector<api::Problem> alarms_;
  std::vector<Source> sources_;
};

}  // namespace torchwatch::daemon
