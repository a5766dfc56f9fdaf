#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/github/github_api.hpp"

namespace torchwatch::github {

/// The id of a comment, a check run or a status; empty where GitHub's answer lacks it.
std::string id_of(const nlohmann::json&);

/// Returns the id of the comment of this account on an issue or a pull request that holds `marker`;
/// nothing where there is none. One that is not there is the fault of the message
/// (missing_issue).
Delivered<std::optional<std::string>> find_comment(const GithubApi&, std::int64_t issue,
                                                   const std::string& marker);

/// Finds, opens, comments on, closes and reopens a repository's issues. Everything is looked up by
/// its marker first, so each call can be repeated after a failure with an unknown outcome.
class IssueTracker {
 public:
  IssueTracker(const GithubApi& api, const GithubSettings& settings, log::Logger logger = {})
      : api_(api), settings_(settings), logger_(std::move(logger)) {}

  const GithubApi& api() const { return api_; }

  /// Returns the number of the oldest issue of this account whose body holds `marker`, among those
  /// created since `since`.
  Delivered<std::optional<std::int64_t>> find_issue(const std::string& marker,
                                                    platform::WallMillis since) const;
  /// Opens an issue and returns its number. The log says which labels GitHub left out.
  Delivered<std::int64_t> open_issue(const std::string& title, const std::string& body) const;

  /// Adds those whom the issue is assigned to. The log says whom GitHub left out.
  Delivered<bool> assign(std::int64_t issue, const std::vector<std::string>& logins) const;
  Delivered<bool> add_comment(std::int64_t issue, const std::string& body) const;
  Delivered<bool> close_issue(std::int64_t issue) const;
  Delivered<bool> reopen_issue(std::int64_t issue) const;

 private:
  Delivered<bool> set_state(std::int64_t issue, const char* state, const char* reason) const;

  const GithubApi& api_;
  const GithubSettings& settings_;
  const log::Logger logger_;
};

}  // namespace torchwatch::github
