#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/notify/notifier.hpp"
#include "torchwatch/platform/rounds.hpp"

namespace torchwatch::daemon {

/// Delivers issues, replies, webhooks and mails in a thread of its own, as soon as they are stored:
/// what is worked on for hours keeps nobody from being told. Thread-safe.
class Deliveries {
 public:
  /// Notes the problem of a source, and "" once there is none. Called from the thread.
  using Note = std::function<void(const std::string& source, const std::string& problem)>;

  /// The application must outlive it.
  Deliveries(Application&, Outbox, Note);

  void begin();

  /// Errors: damaged, the database, as delivering met it.
  Status damage() const;

 private:
  void deliver(const std::stop_token& stop);
  void attempt(const std::string& source, const std::function<Result<std::string>()>& work);
  Result<std::string> notices(const std::stop_token& stop);
  void note(const std::string& source, const Result<std::string>& problem);

  Application& application_;
  Outbox outbox_;
  notify::Notifier notifier_;
  const Note note_;
  mutable std::mutex mutex_;
  std::optional<Error> damage_;
  std::optional<platform::Rounds> rounds_;
  storage::Listening listening_;  ///< last: it ends before what it wakes
};

}  // namespace torchwatch::daemon
