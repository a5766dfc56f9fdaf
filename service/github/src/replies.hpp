#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torchwatch/github/github_api.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::github {

/// Where a reply stands.
struct Replied {
  std::int64_t issue = 0;
  std::string answer;  ///< the id of the comment
};

/// Sends a message that answers a comment: the first becomes a comment on the issue that its title
/// names ("issue/17"), each later one its text. `of_target` has all messages of that answer, oldest
/// first. May be repeated after an unknown outcome.
Delivered<Replied> send_reply(const storage::OutboxRow&, const std::string& marker,
                              const std::vector<storage::OutboxRow>& of_target, const GithubApi&);

}  // namespace torchwatch::github
