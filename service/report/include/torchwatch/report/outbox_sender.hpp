#pragma once

#include <stop_token>
#include <string>

#include "torchwatch/doors/clock.hpp"
#include "torchwatch/doors/http_client.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::report {

struct GithubSettings {
  std::string repository;  ///< owner/name
  std::string token;
  std::string api = "https://api.github.com";
};

struct Delivery {
  int sent = 0;
  int postponed = 0;
  int dead = 0;
};

/// Sends what is due in the outbox to GitHub, in order, each exactly once as far as the tracker
/// shows: `sending` is committed first, the marker is looked up before every POST, and a message
/// found in `sending` at start is treated as unknown. Waits as rate limits demand by postponing.
class OutboxSender {
 public:
  OutboxSender(storage::IncidentStore&, doors::HttpClient&, const doors::Clock&, GithubSettings);
  /// Errors: only of storage; a tracker that does not answer is a postponed message.
  Result<Delivery> deliver_due(std::stop_token stop);

 private:
  storage::IncidentStore& incidents_;
  doors::HttpClient& http_;
  const doors::Clock& clock_;
  GithubSettings settings_;
};

}  // namespace torchwatch::report
