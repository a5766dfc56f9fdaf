#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/runs/drills.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

// How often the service is wrong, measured by comparing builds with themselves: the rate of false
// alarms and, by slowdowns that are planted, of misses. The same on the page, in the API and on the
// command line.

/// Returns the 95 % upper bound on the share of unchanged series that are called changed: 0 to 1,
/// and 1 if no series was judged.
double false_alarms_bound(const storage::SelfTestTally&);

/// Formats the bound for people: "13.9 %".
std::string false_alarms_bound_text(const storage::SelfTestTally&);

/// Says for people what the tally shows: "0 of 9 series were called changed so far; the rate is at
/// most 39.3 % (95 % upper bound), which is that high because few were judged". The bound alone
/// reads like an error rate.
std::string self_tests_text(const storage::SelfTestTally&);

/// Makes {"series", "inconclusive", "regressed", "improved", "false_alarms_bound"}.
nlohmann::json json_of(const storage::SelfTestTally&);

/// Makes {"self_tests", "all"}: those members with the "metric" for each metric, and their sum.
nlohmann::json json_of(const std::vector<storage::SelfTestTally>&);

/// "11 of 12 planted slowdowns were found, 1 was missed; of such ones at least 66.1 % are found (95
/// % lower bound)."
std::string drills_text(const storage::DrillTally&);

/// Makes {"planted", "found", "inconclusive", "missed", "found_bound"}: the last is the 95 % lower
/// bound on the share that is found, 0 where none was planted.
nlohmann::json json_of(const storage::DrillTally&);

}  // namespace torchwatch::report
