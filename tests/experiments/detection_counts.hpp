#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "detection_rules.hpp"

namespace torchwatch::experiments {

/// By which comparisons after the change a report is counted.
inline constexpr std::array<std::size_t, 4> kReportedBy{0, 1, 3, 9};

/// How often what was said, of one rule on one workload.
struct Counts {
  long judged = 0;
  long slower = 0;  ///< as soon as the rule can speak
  long faster = 0;
  long undecided = 0;
  std::array<long, kReportedBy.size()> slower_by{};
  double runs = 0;
  long screened = 0;  ///< intervals of comparisons that screening decided
  long screened_hold = 0;
  long confirmed = 0;  ///< intervals of comparisons that confirmation decided
  long confirmed_hold = 0;

  Counts& operator+=(const Counts& other);
};

/// By rule, then by workload.
using Table = std::vector<std::vector<Counts>>;

/// All workloads of one rule together.
Counts together(const std::vector<Counts>& by_workload);

/// Which comparisons are judged: how many in all, and each by its number.
struct Sampling {
  long comparisons = 0;
  std::size_t workloads = 0;
  std::function<SeriesComparison(long number, Random&)> comparison;
};

/// Where chance comes from: `row` keeps samplings with one seed apart.
struct Seed {
  std::uint64_t seed = 0;
  std::uint32_t row = 0;
};

/// Judges all comparisons of a sampling by all rules. Random numbers belong to comparisons, not to
/// threads, so the result does not depend on how many threads there are.
Table judge_all(const std::vector<Rule>& rules, const Sampling& sampling, Seed seed,
                unsigned threads);

}  // namespace torchwatch::experiments
