#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns the last lines, at most 20, that have something on them. For each path that could tell
/// of this machine stands "…", with the file's name behind it; secrets, and what looks like one,
/// are redacted. What they say is as hostile as other foreign text.
std::vector<std::string> last_lines(std::string_view output,
                                    std::span<const std::string> secrets = {});

/// Returns the verdicts of a comparison with more of a reason for each benchmark that failed: the
/// last line of what its process printed. Errors: those of the database.
Result<std::vector<storage::VerdictRow>> with_printed_output(storage::Database&,
                                                             const storage::ComparisonRow&,
                                                             std::vector<storage::VerdictRow>);

}  // namespace torchwatch::report
