#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/comparison_text.hpp"

namespace torchwatch::commands {

/// Opens the configured repository, for the subjects of commits; nothing where there is none.
std::optional<bisect::CommitHistory> history_of(const config::Config&);

/// Reads everything that is printed of a comparison. `history`: for subjects; may be null.
Result<terminal::ComparisonFacts> gather(storage::Database&, const config::Config&,
                                         const bisect::CommitHistory* history,
                                         const storage::ComparisonRow&);

/// Reads what is known of an incident's cause and its issue. Likewise.
Result<terminal::FoundIncident> gather(storage::Database&, const bisect::CommitHistory* history,
                                       const storage::IncidentRow&);

/// Makes a comparison's members, as `nightly --json` lists them and `compare --json` prints them.
Result<nlohmann::json> to_json(storage::Database&, const terminal::ComparisonFacts&);

/// Prints a comparison for people or machines, or the text of its page, and returns the status that
/// it means. `all`: with the unchanged series.
Outcome print(const Invocation&, storage::Database&, const terminal::ComparisonFacts&, bool all);

/// Returns 1 with a regression, 4 with nothing but inconclusive or failed series, 3 for a
/// comparison that was broken off or waits.
ExitStatus exit_status_of(const terminal::ComparisonFacts&);

}  // namespace torchwatch::commands
