#pragma once

#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// What a step measured of one target: the median change against the other side of its pairs, or of
/// a build alone against what the good end had read by then (ln of a ratio for times, else bytes).
struct CourseReading {
  Target target;
  double effect = 0;
  int readings = 0;
};

/// One thing that happened in a search, with commits in the place of classes.
struct CourseStep {
  std::string kind;     ///< of the event: "measured", "measured_alone", "built", "unbuildable", ...
  std::string purpose;  ///< of a measurement: "verify_ends", "probe", ...
  std::string commit;
  std::string against;  ///< the other side of the pairs
  std::vector<CourseReading> readings;
  std::string reason;  ///< why a commit has no build, a target was lost, ...
  /// After it, the culprit is one of those behind `after` up to `up_to`, the likeliest of the
  /// stretches between builds, with this probability; 0 while none is looked for.
  double probability = 0;
  std::string after;
  std::string up_to;
};

/// How a search went, from what SearchLog has stored of it. Errors: corrupt.
Result<std::vector<CourseStep>> course_of(const storage::BisectionRow&,
                                          const std::vector<storage::BisectionEventRow>&);

}  // namespace torchwatch::nightly
