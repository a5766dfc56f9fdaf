#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "github_api.hpp"

namespace torchwatch::report {

/// The repository's issues, as far as an outbox needs them. Everything is found by its marker
/// first, so that each call can be repeated after a failure whose outcome is not known.
class IssueTracker {
 public:
  IssueTracker(const GithubApi& api, const GithubSettings& settings)
      : api_(api), settings_(settings) {}

  /// The number of the issue whose body holds `marker`; only issues made since `since` are read.
  Delivered<std::optional<std::int64_t>> find_issue(const std::string& marker,
                                                    doors::WallMillis since) const;
  Delivered<std::int64_t> open_issue(const std::string& title, const std::string& body) const;

  Delivered<bool> has_comment(std::int64_t issue, const std::string& marker) const;
  Delivered<bool> add_comment(std::int64_t issue, const std::string& body) const;
  Delivered<bool> close_issue(std::int64_t issue) const;

 private:
  const GithubApi& api_;
  const GithubSettings& settings_;
};

}  // namespace torchwatch::report
