#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/outbox_store.hpp"

namespace torchwatch::github {

struct GithubSettings {
  std::string repository;  ///< owner/name
  std::string token;
  std::string api = "https://api.github.com";     ///< https, or http to a literal loopback address
  std::vector<std::string> labels{"torchwatch"};  ///< dropped by GitHub without push access
  std::vector<std::string> assignees = {};
  std::chrono::milliseconds time_limit{30'000};     ///< for one request
  std::chrono::milliseconds write_interval{1'000};  ///< between two messages; GitHub asks for 1 s
};

/// Returns the headers of every request to GitHub, in the API's version that torchwatch speaks.
std::map<std::string, std::string> request_headers(const std::string& token);

/// What one round of delivery did, in messages.
struct Delivery {
  int sent = 0;
  int postponed = 0;
  int dead = 0;
  std::string problem;  ///< why the last message was not sent; empty where none failed
};

struct DeliveryFailure;
class IssueTracker;

/// Sends due messages of the outbox to GitHub, first those that failed least, each exactly once as
/// far as GitHub shows: `sending` is committed first, the marker is looked up before every POST, and
/// a message found in `sending` at start counts as unknown. A message that the tracker rejects is
/// postponed, twice as long each time up to half an hour, and given up after three times. A failure
/// that any message would meet (rate limit, no network, token rejected) pauses the whole outbox for
/// as long as it lasts, and uses up no try. Use one sender per database. Not thread-safe.
class OutboxSender {
 public:
  OutboxSender(storage::OutboxStore&, platform::HttpClient&, const platform::Clock&, GithubSettings,
               log::Logger = {});
  /// Sends until nothing is due or `stop` is requested. A failed message is postponed: not an
  /// error. Errors: those of storage; invalid (repository or api cannot work).
  Result<Delivery> deliver_due(std::stop_token stop);

  /// Uses another token from now on; nothing waits any longer. Errors: of storage.
  Status set_token(std::string token);

 private:
  Status deliver(storage::OutboxRow, const IssueTracker&, const std::stop_token&, Delivery&);
  Status postpone(const storage::OutboxRow&, const DeliveryFailure&, Delivery&);

  storage::OutboxStore& outbox_;
  platform::HttpClient& http_;
  const platform::Clock& clock_;
  GithubSettings settings_;
  const log::Logger logger_;
  std::chrono::nanoseconds quiet_until_{0};  ///< monotonic
};

}  // namespace torchwatch::github
