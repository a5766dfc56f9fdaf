#pragma once

#include <map>
#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// A run that has ended and what it ran on.
struct MachineRun {
  storage::RunRow row;
  std::string machine;  ///< lines "name: value"; equal for comparable runs
};

/// The newest run of each slot, and which slots need another attempt.
class SlotRuns {
 public:
  static constexpr int kRunsOfTwoPairs = 4;

  void add(MachineRun);
  /// Returns the slot's newest run; null before an attempt of it has ended.
  const MachineRun* find(const std::string& slot) const;
  /// Returns whether an attempt of the slot has ended.
  bool is_begun(const std::string& slot) const { return slots_.contains(slot); }
  /// Returns whether the slot needs no further attempt.
  bool is_closed(const std::string& slot) const;
  /// Returns whether two interleaved pairs of the benchmark failed whose runs then measured apart,
  /// as those that a device cannot hold both: to try more of them would be in vain.
  bool pairs_are_in_vain(const Benchmark&) const;
  /// Returns whether an interleaved pair may be tried in both slots: once, as both are run again
  /// without a partner where one of the two fails.
  bool may_pair(const std::string& one, const std::string& other,
                const Benchmark& benchmark) const {
    return !is_begun(one) && !is_begun(other) && !pairs_are_in_vain(benchmark);
  }

 private:
  struct Slot {
    int attempts = 0;
    MachineRun run;
  };
  std::map<std::string, Slot> slots_;
  std::map<Benchmark, int> measured_apart_;  ///< runs that measured once their pair had failed
};

}  // namespace torchwatch::comparison
