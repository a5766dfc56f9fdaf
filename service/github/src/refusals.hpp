#pragma once

#include <string>

#include "torchwatch/github/github_api.hpp"

namespace torchwatch::github {

/// Rights by which a token may do what it was refused, as GitHub's pages name them.
inline constexpr const char* kStatuses = "Commit statuses: write";
inline constexpr const char* kChecks = "Checks: write, which only a GitHub App has";
inline constexpr const char* kComments = "Pull requests: write (or Issues: write)";
inline constexpr const char* kContents = "Contents: read";
inline constexpr const char* kIssues = "Issues: read and write";

/// What became of a request about one place (a commit, a pull request), with what that means: of a
/// missing right the message waits by itself (storage::kWaitsAlone); any other refusal is of this
/// message alone. GitHub answers "not there" also about what the token may not see, so both count
/// as a right.
DeliveryFailure refused(DeliveryFailure, const std::string& repository, const std::string& right);

/// What became of a request about an issue or a pull request: one that is not there, in a
/// repository that can be seen, is the fault of this message alone.
DeliveryFailure missing_issue(DeliveryFailure, const GithubApi&);

/// Whether the message waits for a right of the token, and others are sent meanwhile.
bool waits_alone(const DeliveryFailure&);

}  // namespace torchwatch::github
