#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "torchwatch/operators/operator_changes.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::operators {

/// The least share of an iteration that an operator takes of a workload in which it is judged: a
/// run may show less of one that takes 2 %.
inline constexpr double kShareJudged = 0.015;

/// An operator that may have got slower, after the pairs so far.
struct Suspect {
  std::string name = {};
  Benchmark carrier = {};             ///< the whole workload in which it is best measured
  double ratio = 1;                   ///< of its time there, after over before
  std::set<Benchmark> carriers = {};  ///< all workloads that say so
};

/// What the pairs of a comparison say of all operators.
struct Screened {
  int operators = 0;                   ///< how many were judged
  std::vector<Suspect> suspects = {};  ///< the largest change first
};

/// Looks for operators that may have got slower by `least`, a share of their own time. The evidence
/// of an operator is pooled over all workloads in which it takes kShareJudged: it is a suspect
/// where the median of its changes reaches `least`, or where that of a single workload reaches half
/// as much again, as what happens for one shape of its inputs does in few. Never one is what lies
/// outside of operators, what a build does not call, and what no variant can name. Pure.
Screened screen(const std::vector<WatchedPairs>&, double least);

/// Whether the time that an operator takes more was taken by others before: the work was given
/// another name, or split otherwise. That is so where operators that certainly take less, each by a
/// tenth of its own time, make up for half of it or more. `pairs` are of the workload in which it
/// is judged. Pure.
std::optional<std::string> moved_from(const std::vector<Pair>& pairs, const std::string& name);

}  // namespace torchwatch::operators
