#pragma once

#include <iosfwd>

#include "torchwatch/bisect/commit_history.hpp"
#include "torchwatch/cli/exit_status.hpp"
#include "torchwatch/nightly/search_result.hpp"

namespace torchwatch::cli {

/// What a search found, for people: the culprit, how sure, the effects, what was skipped.
void print(std::ostream&, const nightly::SearchResult&, const bisect::CommitHistory*);

/// 1 a culprit is named, 3 the recipe failed again and again, 4 no conclusion, 0 did not reproduce.
ExitStatus exit_status_of(const nightly::SearchResult&);

}  // namespace torchwatch::cli
