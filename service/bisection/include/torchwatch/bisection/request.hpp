#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::bisection {

/// What a person (or POST /api/v1/bisections) asks for: a range, or a commit that is suspected, or
/// both; the workloads, or none to screen the suite between the ends first.
struct BisectionRequest {
  std::string good;
  std::string bad;
  std::string suspect;
  std::vector<std::string> workloads;
  std::optional<Device> device;  ///< default: cpu
  std::optional<Mode> mode;      ///< default: both
  std::optional<Variant> variant;
  std::optional<Metric> metric;  ///< default: time
};

/// Errors: invalid, naming the member.
Result<BisectionRequest> parse_bisection_request(const std::string& json);
std::string to_json(const BisectionRequest&);

/// Returns the series of the workloads that the request names.
std::vector<Series> named_series(const BisectionRequest&);

}  // namespace torchwatch::bisection
