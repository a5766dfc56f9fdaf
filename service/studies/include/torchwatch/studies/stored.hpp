#pragma once

#include <optional>
#include <set>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/studies/study_file.hpp"

namespace torchwatch::studies {

/// Which stored comparisons answer a pair.
struct Wanted {
  const Pair& pair;
  Preset preset = Preset::small;                     ///< where the pair names none
  std::optional<std::set<storage::Id>> builds = {};  ///< any, where nothing is said
  bool ended = false;  ///< only those that have come to their verdicts
};

/// Returns the newest comparison of purpose study under the pair's settings, at its preset and with
/// its workloads; nothing where there is none. Errors: of storage.
Result<std::optional<storage::ComparisonRow>> newest_of(storage::Database&, const Wanted&);

/// Returns the comparison of a pair that had ended when the same study was interrupted in a later
/// one, so that it need not be measured again. Errors: of storage.
Result<std::optional<storage::ComparisonRow>> ended_before_interruption(comparison::Services&,
                                                                        storage::Id build,
                                                                        const StudyFile&,
                                                                        const Pair&);

}  // namespace torchwatch::studies
