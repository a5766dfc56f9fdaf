#pragma once

#include <memory>
#include <optional>
#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/database.hpp"

namespace torchwatch::daemon {

/// Everything that measuring and searching needs, opened in one place from a configuration: the
/// database (as its one writer), the supervisor of children, the executor, kits, commit builds, the
/// repository, the channel. One thread at a time works with it.
class Session {
 public:
  /// Errors: conflict (another process writes this database, or measures on this machine: named),
  /// invalid and not_found (what the configuration names), unavailable.
  static Result<std::unique_ptr<Session>> open(config::Config, nightly::Progress&);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  nightly::Workshop& workshop();
  const config::Config& config() const;
  /// The wheel index, for BUILD arguments that name a release, whatever [channel] is.
  channel::Channel& releases();
  doors::ProcessRunner& processes();
  /// Held while something is measured; taken with the first call.
  Status lock_machine();

 private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};

/// The database of a configuration for reading alone, beside a running daemon.
/// Errors: not_found where there is none yet, saying which command makes it.
Result<std::unique_ptr<storage::Database>> open_reader(const config::Config&);

}  // namespace torchwatch::daemon
