#pragma once

#include <optional>
#include <set>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/storage/study_store.hpp"
#include "torchwatch/studies/study_file.hpp"

namespace torchwatch::studies {

/// A stored comparison of purpose study and what it compares.
struct StoredStudy {
  storage::ComparisonRow row;
  storage::StudyRow settings;
};

/// Lists all of them, newest first. Errors: of storage.
Result<std::vector<StoredStudy>> all_stored(storage::Database&);

/// Which stored comparisons answer a pair.
struct Wanted {
  const Pair& pair;
  Preset preset = Preset::small;                     ///< where the pair names none
  std::vector<std::string> suite = {};               ///< where it names no workloads; empty: any
  std::optional<std::set<storage::Id>> builds = {};  ///< any, where nothing is said
  bool ended = false;  ///< only those that have come to their verdicts
};

/// What answers a pair of a file under that configuration.
Wanted wanted_of(const config::Config&, const Pair&, std::optional<std::set<storage::Id>> builds);

/// Returns the newest of these under the pair's settings, at its preset and with its workloads;
/// nothing where there is none.
std::optional<storage::ComparisonRow> newest_of(const std::vector<StoredStudy>&, const Wanted&);

/// Returns the comparison of a pair of the file that had ended when the same study was interrupted
/// in a later one, so that it need not be measured again. Errors: of storage.
Result<std::optional<storage::ComparisonRow>> ended_before_interruption(comparison::Services&,
                                                                        storage::Id build,
                                                                        const StudyFile&,
                                                                        const Pair&);

}  // namespace torchwatch::studies
