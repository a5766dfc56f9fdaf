#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/github/token_source.hpp"
#include "torchwatch/github/traffic.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::github {

struct GithubSettings {
  std::string repository;                         ///< owner/name
  std::string token;                              ///< used where there is no source of `tokens`
  std::string api = "https://api.github.com";     ///< https, or http to a literal loopback address
  std::vector<std::string> labels{"torchwatch"};  ///< dropped by GitHub without push access
  std::vector<std::string> assignees = {};
  /// owner/name of the commits and pull requests that are marked; empty: `repository`
  std::string commits = {};
  std::chrono::milliseconds time_limit{30'000};     ///< for one request
  std::chrono::milliseconds write_interval{1'000};  ///< between two writes; GitHub asks for 1 s
  /// How long GitHub's lists may lack an issue that was opened: an unknown outcome is looked up
  /// after that.
  std::chrono::milliseconds settling{120'000};
  std::shared_ptr<TokenSource> tokens{};
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();  ///< of all requests
};

/// What one round of delivery did, in messages.
struct Delivery {
  int sent = 0;
  int postponed = 0;
  int dead = 0;
  std::string problem;  ///< why the last message was not sent; empty where none failed
};

class GithubApi;
struct Sending;
struct Receipt;

/// Sends due messages of the outbox to GitHub, first those that failed least, each exactly once as
/// far as GitHub shows: `sending` is committed first, the marker is looked up before every POST,
/// and a message found in `sending` at start counts as unknown. A message that the tracker rejects
/// is postponed, twice as long each time up to half an hour, and given up after three times. A
/// failure that any message would meet (rate limit, no network, token rejected) pauses the whole
/// outbox for as long as it lasts, and uses up no try. A right that the token lacks keeps what
/// needs it waiting, likewise, and nothing else. What follows an issue in another repository than
/// the configured one waits untried: its number is somebody else's there. Use one sender per
/// database. Not thread-safe.
class OutboxSender {
 public:
  OutboxSender(storage::OutboxStore&, platform::HttpClient&, const platform::Clock&, GithubSettings,
               log::Logger = {});
  /// Sends until nothing is due or `stop` is requested. A failed message is postponed: not an
  /// error. Errors: those of storage; invalid (repository or api cannot work).
  Result<Delivery> deliver_due(std::stop_token stop);

  /// Nothing waits any longer: there is another token. Errors: of storage.
  Status retry_now();

 private:
  /// Notes which issues are in the configured repository: those of which it was not noted, and of
  /// one that GitHub calls so now. Nothing is filed of what was over before anything could be.
  Status find_own_issues(const GithubApi&);
  Status deliver(storage::OutboxRow, const Sending&, Delivery&);
  Delivered<Receipt> send(const storage::OutboxRow&, const Sending&);
  Status postpone(const storage::OutboxRow&, const DeliveryFailure&, Delivery&);
  Status put_off(const storage::OutboxRow&, const std::string& error,
                 platform::WallMillis not_before);
  std::chrono::milliseconds unsettled(const storage::OutboxRow&) const;
  Status let_settle(const storage::OutboxRow&, std::chrono::milliseconds, Delivery&);

  storage::OutboxStore& outbox_;
  platform::HttpClient& http_;
  const platform::Clock& clock_;
  GithubSettings settings_;
  const log::Logger logger_;
  std::chrono::nanoseconds quiet_until_{0};  ///< monotonic
  bool has_labels_ = false;                  ///< those of new issues were looked for
  bool knows_own_issues_ = false;            ///< in which repository issues are was looked up
  /// Messages that GitHub may have got, by their keys, and when its lists show that; monotonic.
  std::map<std::string, std::chrono::nanoseconds> settled_at_;
};

}  // namespace torchwatch::github
