#pragma once

#include <optional>
#include <string>

#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// What a list says of a comparison beside its verdicts.
struct BesideVerdicts {
  /// From its first run to its end; nothing while it has not ended, and where it has no run.
  std::optional<double> seconds = {};
  /// How many benchmarks have a value in the judged nightly before, and none in it; nothing where
  /// there is none before, and for all but judged nightlies.
  std::optional<int> benchmarks_lost = {};
  /// The judged self-test of its candidate, else the newest before it.
  std::optional<storage::SelfTestResult> self_test = {};
};

/// Errors: those of storage.
Result<BesideVerdicts> beside_verdicts_of(storage::Database&, const storage::ComparisonRow&);

/// Returns how many series a self-test called changed, which are false alarms.
int false_alarms_of(const storage::SelfTestTally&);

/// Says what a self-test gave, as a cell: "0 of 2,016".
std::string false_alarms_text(const storage::SelfTestTally&);

}  // namespace torchwatch::report
