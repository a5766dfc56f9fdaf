#pragma once

#include <memory>
#include <mutex>

#include "torchwatch/config/config.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/identity/credentials.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::daemon {

/// Who torchwatch is at GitHub, for everything that asks it or writes there. Thread-safe.
class GithubAccess {
 public:
  /// What is passed by reference must outlive it.
  GithubAccess(const config::Config& config, const platform::Clock& clock, log::Log& log)
      : config_(config), clock_(clock), log_(log) {}

  platform::HttpClient& http() { return *http_; }
  /// Opens them at the first call. Errors: invalid ([github] names no identity, or two).
  Result<identity::Credentials*> credentials();
  /// Returns what asks about [github] repository. Errors: those of `credentials`.
  Result<github::GithubSettings> settings();
  /// The same about the repository that has the commits and pull requests.
  Result<github::GithubSettings> settings_of_commits();

 private:
  const config::Config& config_;
  const platform::Clock& clock_;
  log::Log& log_;
  std::unique_ptr<platform::HttpClient> http_ = platform::make_http_client("torchwatch");
  /// Shared by the threads that deliver, that answer comments, and that measure.
  const std::shared_ptr<github::Traffic> traffic_ = std::make_shared<github::Traffic>();
  std::mutex mutex_;
  std::unique_ptr<identity::Credentials> credentials_;
};

}  // namespace torchwatch::daemon
