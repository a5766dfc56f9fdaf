#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/comparison_text.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// A comparison with the names of its builds.
struct NamedComparison {
  storage::ComparisonRow row = {};
  std::string candidate = {};
  std::string baseline = {};
  std::string result = {};  ///< "regressed", "measuring"
  std::size_t incidents = 0;
};

/// What a person asks who wants to know whether anything is wrong.
struct StatusFacts {
  storage::WallMillis now = 0;
  std::optional<ComparisonFacts> newest = {};  ///< the newest nightly's comparison
  std::vector<FoundIncident> open = {};        ///< incidents that are not closed
  std::vector<storage::BisectionRow> searches = {};
  std::vector<storage::SetbackRow> waiting = {};
  std::vector<storage::OutboxRow> unsent = {};
  std::optional<std::int64_t> newest_issue = {};
  std::optional<storage::WallMillis> last_delivery = {};  ///< to the tracker
  std::vector<NamedComparison> recent = {};
  std::vector<storage::SelfTestTally> self_tests = {};
  report::CulpritTally culprits;
};

/// Prints whether anything is wrong, then the newest nightly, open incidents, searches, what waits,
/// the outbox, recent comparisons, and the measured false-alarm rate.
void print(std::ostream&, const StatusFacts&, const Screen&);

}  // namespace torchwatch::terminal
