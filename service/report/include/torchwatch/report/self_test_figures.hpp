#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

// What builds compared with themselves say of the rate of false alarms: the same on the page, in
// the API and on the command line.

/// The share of unchanged series that are called changed, either way, lies below it with 95 %: a
/// number from 0 to 1, 1 where none was judged.
double false_alarms_bound(const storage::SelfTestTally&);

/// The same for people: "13.9 %".
std::string false_alarms_bound_text(const storage::SelfTestTally&);

/// {"series", "inconclusive", "regressed", "improved", "false_alarms_bound"}; no metric, because
/// the sum over all of them has none.
nlohmann::json json_of(const storage::SelfTestTally&);

}  // namespace torchwatch::report
