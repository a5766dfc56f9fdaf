#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "issue_tracker.hpp"
#include "placed_messages.hpp"
#include "torchwatch/github/github_api.hpp"
#include "torchwatch/outbox/outbox_store.hpp"

namespace torchwatch::github {

/// What a message is sent with.
struct Sending {
  const storage::OutboxSubject& subject;
  storage::OutboxStore& outbox;
  const IssueTracker& tracker;
  const PlacedMessages& placed;
  const GithubApi& api;
  const GithubSettings& settings;
  platform::HttpClient& http;
  const platform::Clock& clock;
  std::stop_token stop;
  const log::Logger& logger;
};

/// The number of the issue or pull request that has the message; nothing where there was nothing to
/// do.
using Sent = Delivered<std::optional<std::int64_t>>;

// One function for each kind of message. Each may be called again after an unknown outcome.

/// Gives the issue the message's title and text; with the target "author/SHA" adds the author of
/// that commit to those whom the issue is assigned to, where GitHub knows him.
Sent send_edit(const storage::OutboxRow&, const Sending&);
/// Opens an issue that belongs to no incident: an umbrella or a digest.
Sent send_own_issue(const storage::OutboxRow&, const Sending&);
/// Assigns an issue that was opened to those whom the configuration names. Where that is refused
/// the issue stays without; the log says so.
Sent assign_all(std::int64_t issue, const Sending&);
/// Comments on a pull request of [github] commits: "pull/17", or "pull-of/SHA", which GitHub is
/// asked for.
Sent send_pull_comment(const storage::OutboxRow&, const Sending&);

/// Makes the labels of new issues that the repository lacks. False: without the permission they
/// stay as they are. GitHub then drops them from issues, too.
Delivered<bool> make_labels(const GithubApi&, const GithubSettings&);

}  // namespace torchwatch::github
