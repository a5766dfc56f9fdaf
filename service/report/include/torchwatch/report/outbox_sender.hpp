#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/doors/clock.hpp"
#include "torchwatch/doors/http_client.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::report {

struct GithubSettings {
  std::string repository;  ///< owner/name
  std::string token;
  std::string api = "https://api.github.com";     ///< https, or http to a literal loopback address
  std::vector<std::string> labels{"torchwatch"};  ///< dropped by GitHub without push access
  std::chrono::milliseconds time_limit{30'000};   ///< of one request
  std::chrono::milliseconds write_interval{1'000};  ///< between two messages; GitHub asks for 1 s
};

struct Delivery {
  int sent = 0;
  int postponed = 0;
  int dead = 0;
};

struct DeliveryFailure;
class IssueTracker;

/// Sends what is due in the outbox to GitHub, in order, each exactly once as far as the tracker
/// shows: `sending` is committed first, the marker is looked up before every POST, and a message
/// found in `sending` at start is treated as unknown. Waits as rate limits demand by postponing,
/// twice as long each time; a message that failed 25 times (about five days) is dead. After a
/// failure that any message would meet (rate limit, no network, token refused) nothing is sent
/// until it may have passed. One sender a database; not thread-safe.
class OutboxSender {
 public:
  OutboxSender(storage::IncidentStore&, doors::HttpClient&, const doors::Clock&, GithubSettings);
  /// Errors: of storage, and `invalid` for settings that can never work (repository, api), before
  /// anything is touched; a tracker that does not answer is a postponed message.
  Result<Delivery> deliver_due(std::stop_token stop);

 private:
  Status deliver(storage::OutboxRow, const IssueTracker&, Delivery&);
  Status postpone(const storage::OutboxRow&, const DeliveryFailure&, Delivery&);

  storage::IncidentStore& incidents_;
  doors::HttpClient& http_;
  const doors::Clock& clock_;
  GithubSettings settings_;
  std::chrono::nanoseconds quiet_until_{0};  ///< monotonic
};

}  // namespace torchwatch::report
