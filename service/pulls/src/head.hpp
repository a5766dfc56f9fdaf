#pragma once

#include <string>

#include "torchwatch/pulls/pulls.hpp"

namespace torchwatch::pulls {

/// Which commit of a pull request is to be built, or why none is.
struct Head {
  std::string sha;
  std::string refusal;  ///< for people; empty: it may be built
};

/// Asks GitHub whether who asked may write, and which commit is meant: the one named, if it is or
/// was the pull request's head; else its head, if GitHub says that it was pushed before `asked_at`.
/// `begun` is the head that work has begun with; who asked must still have the right, and it stays.
/// Errors: unavailable, corrupt, of the token.
Result<Head> head_of(PullParts&, const PullSpec&, platform::WallMillis asked_at,
                     const std::string& begun, std::stop_token stop);

}  // namespace torchwatch::pulls
