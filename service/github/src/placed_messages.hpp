#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/github/github_api.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::github {

/// What GitHub answered to a message that it took.
struct Receipt {
  std::optional<std::int64_t> number{};  ///< of the issue that it went to
  std::string answer{};                  ///< the id by which it is edited
};

/// Sends what goes to a commit or a pull request: statuses, check runs, and one comment a pull
/// request, which is edited for the newest state. What GitHub refuses of these for want of a right
/// keeps no issue from being filed.
class PlacedMessages {
 public:
  /// `api` is of the repository with the commits.
  PlacedMessages(const GithubApi& api, const std::string& repository)
      : api_(api), repository_(repository) {}

  static bool takes(storage::OutboxKind);
  /// `messages` are those of the same target, oldest first. Each call may be repeated after a
  /// failure with an unknown outcome.
  Delivered<Receipt> send(const storage::OutboxRow&,
                          const std::vector<storage::OutboxRow>& messages) const;

 private:
  Delivered<Receipt> send_status(const storage::OutboxRow&) const;
  Delivered<Receipt> send_check(const storage::OutboxRow&, const std::string& earlier) const;
  Delivered<Receipt> send_comment(const storage::OutboxRow&, const std::string& earlier) const;
  Delivered<std::optional<std::string>> find_check(const std::string& sha,
                                                   const nlohmann::json& run) const;
  Delivered<Receipt> receipt(Delivered<nlohmann::json>, const std::string& right) const;

  const GithubApi& api_;
  const std::string repository_;
};

}  // namespace torchwatch::github
