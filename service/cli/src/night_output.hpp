#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/cli/exit_status.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::cli {

/// A finished night with everything that is printed of it.
struct NightOutput {
  storage::NightRow night;
  storage::BuildRow baseline;
  storage::BuildRow candidate;
  std::vector<storage::VerdictRow> verdicts;
  std::vector<storage::IncidentRow> incidents;
};

Result<NightOutput> gather(storage::Database&, const storage::NightRow&);

nlohmann::json to_json(storage::Database&, const NightOutput&);
/// The night's table, then for each incident the issue that is (or would be) filed.
Status print(std::ostream&, storage::Database&, const NightOutput&);

/// 1 with a regression, 4 with nothing but inconclusive or failed series, 3 for a refused night.
ExitStatus exit_status_of(const NightOutput&);

}  // namespace torchwatch::cli
