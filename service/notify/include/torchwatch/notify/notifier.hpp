#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::notify {

/// What notices are made of and sent with; it must outlive the notifier.
struct NotifierParts {
  storage::Database& database;
  const config::Config& config;
  process::ProcessRunner& processes;
  const platform::Clock& clock;
  log::Log& log;
};

/// Tells everybody whom the configuration names. Not thread-safe.
class Notifier {
 public:
  explicit Notifier(NotifierParts);
  ~Notifier();

  /// Queues what has happened since the last call. Errors: of storage.
  Status queue();
  /// Delivers webhooks and mails that are due. Returns why the newest that failed waits; empty
  /// where none does. Errors: of storage.
  Result<std::string> deliver(std::stop_token stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Returns whether a message is delivered here, not by the issue tracker's sender.
bool is_notice(storage::OutboxKind);

}  // namespace torchwatch::notify
