#pragma once

#include <string>
#include <vector>

#include "torchwatch/comparison/selection.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::requests {

/// What a person (or POST /api/v1/bisections) asks for: a range, or a commit that is suspected, or
/// both; what got worse. Without workloads the suite is screened between the ends first.
struct BisectionRequest {
  std::string good;
  std::string bad;
  std::string suspect;
  /// Default with workloads: cpu-train and cpu-infer, the default variant, time. The preset is that
  /// of [suite] where none is named.
  comparison::Selection selection;
};

/// Reads a request; "device", "mode", "variant" and "metric" stand for lists of one. Errors:
/// invalid, naming the member.
Result<BisectionRequest> parse_bisection_request(const std::string& json);
std::string to_json(const BisectionRequest&);

/// Returns the series of the workloads that the request names, each once. An external workload is
/// searched in the modes that the configuration names unless the request does. Errors: invalid,
/// when an external workload is not measured so.
Result<std::vector<Series>> named_series(const config::Config&, const BisectionRequest&);

}  // namespace torchwatch::requests
