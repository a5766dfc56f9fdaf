#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/commands/exit_status.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::commands {

/// A finished comparison with everything that is printed of it.
struct ComparisonOutput {
  storage::ComparisonRow comparison;
  storage::BuildRow baseline;
  storage::BuildRow candidate;
  std::vector<storage::VerdictRow> verdicts;
  std::vector<storage::IncidentRow> incidents;
  double confidence = 0;  ///< of the intervals, as configured
};

/// Reads a comparison with its builds, verdicts and incidents.
Result<ComparisonOutput> gather(storage::Database&, double confidence,
                                const storage::ComparisonRow&);
Result<ComparisonOutput> gather(comparison::Services&, const storage::ComparisonRow&);

/// Makes what `nightly --json` and `compare --json` print.
nlohmann::json to_json(storage::Database&, const ComparisonOutput&);
/// Prints the comparison's table, then for each incident the issue that is (or would be) filed.
Status print(std::ostream&, storage::Database&, const ComparisonOutput&);

/// Returns 1 with a regression, 4 with nothing but inconclusive or failed series, 3 for a
/// comparison that was broken off or waits.
ExitStatus exit_status_of(const ComparisonOutput&);

}  // namespace torchwatch::commands
