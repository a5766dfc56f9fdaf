#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Makes the facts of one culprit. Commits have their sha alone.
CulpritFacts cause_of(const bisection::NamedCulprit&);

/// Reads the causes that a stored bisection ended with, the largest first, and behind them the
/// suspects as one cause of several commits. Commits have their sha alone. Empty while it has not
/// ended, without a cause, and where what is stored is damaged.
std::vector<CulpritFacts> causes_of(const storage::BisectionRow&);

/// A commit between the ends of a search.
struct RangeCommit {
  std::string sha = {};
  std::string subject = {};
  std::optional<std::size_t> place = {};  ///< of its class; nothing: it cannot change the library
};

/// What a bisection was asked to search.
struct SearchedRange {
  std::vector<Series> series = {};
  std::optional<Preset> preset = {};      ///< of its runs
  std::vector<RangeCommit> commits = {};  ///< oldest first, with the bad end
  std::optional<Error> missing = {};      ///< why there are no commits
};

}  // namespace torchwatch::report
