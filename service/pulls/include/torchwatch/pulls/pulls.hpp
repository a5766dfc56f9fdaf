#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/comparison/selection.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/pulls/head_builds.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::pulls {

/// A pull request that somebody wants compared.
struct PullSpec {
  std::int64_t pull = 0;
  /// The commit, as 7 to 40 hex digits; empty: the pull request's head, if that was pushed before
  /// it was asked for.
  std::string head = {};
  comparison::Selection selection = {};
  /// Who asked by a comment on GitHub; empty: who may ask this service for work at all.
  std::string login = {};
  platform::WallMillis asked_at = 0;  ///< when GitHub took the comment; 0: when the request came

  bool operator==(const PullSpec&) const = default;
};

/// Returns the body of a request that asks for it.
nlohmann::json to_json(const PullSpec&);
/// Reads one. Errors: invalid.
Result<PullSpec> parse_pull_spec(const nlohmann::json& body);
/// Returns whether the body of a request asks for the comparison of a pull request.
bool is_pull_spec(const nlohmann::json& body);
/// Returns whether a request asks for that.
bool is_of_pull(const storage::RequestRow&);

/// How a request came.
struct Received {
  std::string delivery = {};  ///< the same for the same comment
  platform::WallMillis at = 0;
  storage::Asker asked_by = {};
};

/// Stores what somebody asks for in a comment, once for each delivery; the daemon carries it out in
/// its turn. Errors: invalid (nothing is stored), of storage.
Result<storage::RequestRow> request_pull_comparison(storage::Database&, const config::Config&,
                                                    const PullSpec&, const Received&);

/// Makes a message that is edited into the one comment which a pull request has. `secret` is that
/// of its marker.
storage::OutboxRow comment_on(std::int64_t pull, const std::string& key, const std::string& text,
                              const std::string& secret);

/// Checks what needs neither network nor minutes: the body, the keys of the configuration, that
/// there is a sandbox. Errors: invalid, with what to do.
Status check(const config::Config&, bool is_confined, const nlohmann::json& body);

/// What carrying it out needs; it must outlive the call.
struct PullParts {
  comparison::Services& services;
  HeadBuilds* heads = nullptr;  ///< null without [source] or [build] recipe
  platform::HttpClient& http;
  /// The access to the repository with the pull requests, as it is now. Errors: of the token.
  std::function<Result<github::GithubSettings>()> github;
};

/// Carries out a request for a pull request's comparison and queues what is said about it. It may
/// be killed at any moment: the next call continues. Returns the request's result. Errors: invalid
/// (refused: no right, a later push, no sandbox, it does not build), unavailable and timed_out
/// (call again later), cancelled, of storage.
Result<std::string> carry_out(PullParts&, const storage::RequestRow&, std::stop_token stop);

/// Cancels a request of any kind with the comparison or the search that it opened, and stops what
/// is done for it at present. On a pull request it is said so, and nothing stays that was built for
/// it alone. Thread-safe beside the pipeline. Errors: not_found, conflict (it has ended), of
/// storage.
Status cancel_request(comparison::Services&, storage::Id request, const storage::Asker&);

/// Removes what was built for requests that were cancelled, unless another one needs it. Call it in
/// the pipeline's thread, while nothing is measured. Errors: conflict, unavailable, of storage.
Status remove_cancelled(PullParts&);

/// Ends what a request that did not come to a result has left: its comparison, and the comment.
/// Errors: of storage.
Status conclude(PullParts&, const storage::RequestRow&, const std::string& reason);

}  // namespace torchwatch::pulls
