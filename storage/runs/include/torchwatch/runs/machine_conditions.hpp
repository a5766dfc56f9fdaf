#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What runs state of one thing, in its unit.
struct Spread {
  std::int64_t least = 0;
  std::int64_t median = 0;
  std::int64_t most = 0;
  std::int64_t newest = 0;
};

/// What a machine's newest runs state of it, at their ends.
struct MachineConditions {
  int runs = 0;                             ///< that are looked at
  std::optional<Spread> temperatures = {};  ///< of a processor, 0.001 °C; nothing: not told
  /// Nanoseconds that work took which no build changes, before timing runs; nothing: none told.
  std::optional<Spread> arithmetic = {};  ///< a chain of additions and multiplications
  std::optional<Spread> copy = {};        ///< a copy of 4 MiB
  double load_least = 0;  ///< load averages of one minute, in which the runs count themselves
  double load_median = 0;
  double load_most = 0;
  double stolen_share = 0;  ///< of the time of all processors, which the host gave to others
};

/// Returns that of the newest thousand runs on a machine. Errors: of storage.
Result<MachineConditions> conditions_of(Database&, Id machine);

/// Returns what came of builds that were compared with themselves on that machine, for each metric.
Result<std::vector<SelfTestTally>> self_tests_on(Database&, Id machine);

}  // namespace torchwatch::storage
