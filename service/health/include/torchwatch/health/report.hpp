#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/health/activity.hpp"
#include "torchwatch/health/problem.hpp"

namespace torchwatch::health {

/// What /healthz says.
struct Report {
  std::vector<Problem> problems;
  std::vector<std::string> warnings;  ///< what works, but not as it should
  Doing doing;
  std::string version = {};                           ///< of the program; may be empty
  std::optional<std::int64_t> free_cache_bytes = {};  ///< on the disk of [build] cache
};

/// Returns whether something concerns the whole service. An item that waits keeps nothing else from
/// being done, nightlies are compared without [source] and on nodes that differ, too, and whoever
/// gets notices is not the service: a probe must not end the service for those.
bool is_failing(const std::vector<Problem>&);

/// Makes the body of /healthz. A stranger sees neither details, version and disk nor what is
/// done.
nlohmann::json to_json(const Report&, bool is_trusted);
/// Makes the list of problems alone.
nlohmann::json to_json(const std::vector<Problem>&, bool is_trusted);
/// Reads what a daemon answered to somebody whom it trusts. Errors: corrupt.
Result<Report> parse_report(const nlohmann::json&);

}  // namespace torchwatch::health
