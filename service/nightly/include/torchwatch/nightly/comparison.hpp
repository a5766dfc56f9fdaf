#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/nightly/block.hpp"
#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/nightly/series_settings.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// How often a run that failed is started again before its slot counts as failed.
inline constexpr int kAttemptsPerSlot = 2;

/// What a comparison says of one target once it is finished.
struct Finding {
  storage::VerdictRow verdict;  ///< `night` is filled in by who stores it
  bool lost = false;            ///< ran with the baseline, does not run with the candidate
};

/// Where a comparison stands.
struct ComparisonStep {
  /// The next block to carry out; none when every target has its verdict. Cells take turns, so
  /// that a disturbance does not hit all blocks of one.
  std::optional<Block> block;
  int decided = 0;  ///< (cell, pass) pairs that have their verdicts
  int courses = 0;  ///< of so many
};

/// The course of one comparison: which block comes next and what the runs say, as a pure function
/// of the plan and the runs so far. A killed night is this object made again from the stored runs.
class Comparison {
 public:
  /// `seed` fixes the random order of the blocks within a round.
  Comparison(const Plan&, SeriesSettings, std::uint64_t seed);

  /// Takes an ended run. `machine` names what it ran on: runs of two machines are not compared.
  void add(const storage::RunRow&, const std::string& machine);

  /// Whether an attempt of the slot has ended.
  bool is_begun(const std::string& slot) const { return slots_.contains(slot); }

  /// True once the slot needs no further attempt.
  bool is_closed(const std::string& slot) const;

  ComparisonStep next() const;

  /// One for every target that was measured, in the plan's order.
  std::vector<Finding> findings() const;

 private:
  struct Slot {
    int attempts = 0;
    storage::RunRow run;
    std::string machine;
  };
  friend class Course;

  Plan plan_;
  SeriesSettings settings_;
  std::uint64_t seed_;
  std::map<std::string, Slot> slots_;
};

}  // namespace torchwatch::nightly
