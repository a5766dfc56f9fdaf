#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// What measuring an incident's series again came to.
enum class RecheckOutcome {
  gone,  ///< less than half of the change is left of each series, or what was lost runs again
  still_there,  ///< a series is worse still, or gives no result still
  unclear,      ///< neither; more of the change may be left
  due,          ///< it has not been judged
  none          ///< it ended without verdicts
};

/// The verdicts of one comparison.
using Verdicts = std::vector<storage::VerdictRow>;

/// Returns what a recheck's verdicts come to for the incident: gone, still_there or unclear. A
/// series is gone as well if a recheck of `before` (newest first) has shown it, and none since has
/// found it worse. Series that the recheck did not measure do not count. Pure.
RecheckOutcome outcome_for(const storage::IncidentRow&, const Verdicts&,
                           std::span<const Verdicts> before = {});

/// One time that an incident's series were measured again.
struct Recheck {
  storage::ComparisonRow comparison;
  std::string candidate;                                        ///< the name of the build
  storage::BuildOrigin origin = storage::BuildOrigin::nightly;  ///< the candidate's
  RecheckOutcome outcome = RecheckOutcome::due;
  std::vector<storage::IncidentSeriesRow> worse;  ///< series that are worse still, largest first
  std::vector<Series>
      unmeasured;  ///< the incident's series without a verdict, as outside the suite
};

/// Returns the newest rechecks of an incident, newest first, each with what those before it have
/// shown since a comparison found the incident again. Errors: those of storage.
Result<std::vector<Recheck>> rechecks_of(storage::Database&, const storage::IncidentRow&);

/// Says in a line what a recheck came to: "2026-08-18 on 2026-08-18 03:04 UTC (comparison 3): still
/// there, dlrm cpu-train time +12.0 %".
std::string recheck_text(const Recheck&);

/// ", without dlrm cpu-train time and 2 more, which had no result"; empty: all were measured.
std::string unmeasured_text(const Recheck&);

/// Makes {"comparison", "candidate", "outcome", "effects", "reason", "ended_at"}.
nlohmann::json json_of(const Recheck&);

}  // namespace torchwatch::report

namespace torchwatch {

template <>
struct Words<report::RecheckOutcome> {
  using enum report::RecheckOutcome;
  static constexpr std::string_view kKind = "outcome of a recheck";
  static constexpr std::array kAll{Word{gone, "gone"}, Word{still_there, "still_there"},
                                   Word{unclear, "unclear"}, Word{due, "due"}, Word{none, "none"}};
};

}  // namespace torchwatch
