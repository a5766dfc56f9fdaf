#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/conversation/settings.hpp"
#include "torchwatch/github/github_api.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::conversation {

/// What a conversation works with. What it refers to must outlive it.
struct Parts {
  comparison::Services& services;
  platform::HttpClient& http;
  github::GithubSettings github;  ///< without the token, or with a source of `tokens`
  Settings settings;
  /// The token, or beside a source of tokens any text that changes with the account. Asked anew for
  /// each round.
  std::function<Result<std::string>()> token;
  /// Checks what a request asks for, as requests::check does for somebody elsewhere.
  std::function<Status(storage::RequestKind, const nlohmann::json&)> check_request;
  std::function<void()> work_arrived{};  ///< wakes who carries it out; must not block
  log::Logger logger{};
};

/// Reads what people say and do in the issue tracker, and answers. An item that cannot be worked
/// off waits or ends by itself (nightly/attend.hpp). Works beside the pipeline: it calls only what
/// is thread-safe there. Not thread-safe itself.
class Inbox {
 public:
  explicit Inbox(Parts);

  /// Looks at what changed if it is time, works off what is due, and brings replies up to date.
  /// Returns why GitHub could not be read; empty where it could. Errors: damaged, cancelled, of
  /// storage.
  Result<std::string> work(std::stop_token stop);

 private:
  Status find_own_login(const github::GithubApi&);
  Status poll(const github::GithubApi&);
  Status attend_due(const github::GithubApi&, const std::stop_token&);

  Parts parts_;
  comparison::Silence silence_;
  comparison::Services services_;  ///< without what belongs to the pipeline's thread
  std::optional<std::string> own_login_;
  std::string token_;      ///< that the login belongs to
  bool is_begun_ = false;  ///< what an earlier process left was looked at
  std::optional<std::chrono::nanoseconds> next_poll_;  ///< monotonic; none: at once
};

}  // namespace torchwatch::conversation
