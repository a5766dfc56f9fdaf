#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/runs/run_store.hpp"

namespace torchwatch::evidence {

/// By how much two runs of one build that make a pair differ, as comparisons measure pairs.
struct Noise {
  std::size_t pairs = 0;  ///< that show it, two in a block
  double spread = 0;      ///< of a pair's ratio, robust: a share of the value
  /// The least ratio - 1 that nine comparisons of ten would call regressed, as
  /// detect::predict_minimum_detectable_effect says of these pairs; nothing where a doubling would
  /// not be found, and for metrics other than time.
  std::optional<double> minimum_detectable_effect = {};
};

/// Returns the noise in the values of a series, oldest first, as comparisons with these settings
/// see it; nothing where fewer than four blocks show it. Pure.
std::optional<Noise> noise_of(const Series&, const std::vector<storage::RunValue>&,
                              const detect::Settings&);

/// Returns the noise in the newest stored values of a series. Errors: those of storage.
Result<std::optional<Noise>> read_noise(storage::Database&, const Series&, const detect::Settings&);

}  // namespace torchwatch::evidence
