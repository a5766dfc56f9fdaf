#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/bisect/commit_history.hpp"
#include "torchwatch/cli/exit_status.hpp"
#include "torchwatch/nightly/search_course.hpp"
#include "torchwatch/nightly/search_result.hpp"

namespace torchwatch::cli {

/// What a search found, for people: the culprit, how sure, the effects, what was skipped.
void print(std::ostream&, const nightly::SearchResult&, const bisect::CommitHistory*);

/// How it went there, step by step, for an engineer who checks it.
void print(std::ostream&, const std::vector<nightly::CourseStep>&);
/// The same for machines.
nlohmann::json to_json(const nightly::CourseStep&);

/// 1 a culprit is named, 3 the recipe failed again and again, 4 no conclusion, 0 did not reproduce.
ExitStatus exit_status_of(const nightly::SearchResult&);

}  // namespace torchwatch::cli
