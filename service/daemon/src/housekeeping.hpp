#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::daemon {

/// What the daemon does for itself while no item of work is due. Not thread-safe.
class Housekeeping {
 public:
  /// Sets or, with no problem, ends the problem of a source.
  using Note = std::function<void(const std::string& source, const std::string& problem)>;

  /// The application must outlive the object.
  Housekeeping(Application& application, Note note)
      : application_(application), note_(std::move(note)) {}

  /// Does what is due: once a day every stored row is checked, what is older than [retention] is
  /// removed, and the caches are brought to their limit. Errors: damaged (the database).
  Status look_after(std::stop_token stop);

  /// Has the caches brought to their limit by the next `tidy_if_asked`. Thread-safe.
  void ask_to_tidy() { is_asked_to_tidy_ = true; }
  /// Brings them there and logs what went, if somebody asked for it. Call it while nothing is
  /// measured. Errors: those of look_after.
  Status tidy_if_asked(const std::stop_token& stop);

 private:
  Status check_database(const std::stop_token& stop);
  Status thin_samples(const std::stop_token& stop);
  Status remove_outputs(const std::stop_token& stop);
  Status remove_traces(const std::stop_token& stop);
  Status tidy(const std::stop_token& stop);
  /// The time before which something is as old as `age`.
  Result<storage::WallMillis> before(std::chrono::seconds age);
  void remove_old_logs(storage::WallMillis before);

  Application& application_;
  const Note note_;
  std::atomic<bool> is_asked_to_tidy_ = false;
  std::optional<std::chrono::nanoseconds> next_time_;  ///< monotonic; none: at once
};

}  // namespace torchwatch::daemon
