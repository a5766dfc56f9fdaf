#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::cli {

/// One number in printf's `format`, which must take a double: decimal("%.1f %%", 3.14).
std::string decimal(const char* format, double value);
/// "+15.2 %", or "" where there is no ratio.
std::string percent(double ratio);
/// "[+13.1, +17.4]", or "" where there is no interval.
std::string percent_interval(double low, double high);

/// "cpu-train", with the variant where it is not the default.
std::string configuration_text(const Cell&);

/// A verdict as `nightly --json` and `compare --json` print it.
nlohmann::json to_json(const storage::VerdictRow&);
/// A table of verdicts: what changed first.
void print_verdicts(std::ostream&, std::vector<storage::VerdictRow>);

}  // namespace torchwatch::cli
