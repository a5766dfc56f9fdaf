#pragma once

#include <string>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/bisection/spec.hpp"

namespace torchwatch::bisection {

/// What a measurement of a search has shown.
struct Probe {
  std::string commit = {};   ///< sha
  std::string against = {};  ///< sha of the other side; empty: it was measured alone
  std::vector<bisect::Effect> effects = {};  ///< as CulpritSearch::read has them
  int commits = 0;                           ///< that are searched
  std::vector<double> posterior = {};        ///< after it
};

/// Says it in one line: "33de6cd2393f against 1f0c5b7a9e21: dlrm cpu-train time +14.4 % [+11.0,
/// +16.1] %; 92 commits -> 11 hold 95 %".
std::string text_of(const Probe&, const BisectionSpec&);

}  // namespace torchwatch::bisection
