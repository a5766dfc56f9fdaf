#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/bisect/candidate_commits.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/history/commit_history.hpp"

namespace torchwatch::past_searches {

/// In which commits a culprit is to be looked for first.
struct Lead {
  std::vector<double> weights;  ///< of the commits: 1 on average, at least 0.1
  std::string reason;           ///< what past searches found, for people; one line
};

/// Learns from the newest searches that named one commit, which nobody disputed and no revert
/// contradicted. Nothing while there are fewer than five of them, or where they say nothing about
/// these commits. Ranges that the repository lacks are passed over. Errors: of storage.
Result<std::optional<Lead>> lead_among(const std::vector<bisect::Commit>& commits,
                                       const bisect::PathPatterns& cannot_change,
                                       const bisect::CommitHistory&, storage::Database&);

}  // namespace torchwatch::past_searches
