#pragma once

#include <string>
#include <vector>

#include "torchwatch/drawing/posterior.hpp"

namespace torchwatch::drawing {

/// A commit that a search has tried, with what all its runs have read.
struct ProbedCommit {
  std::string sha = {};
  CommitState state = CommitState::searched;
  std::vector<double> values = {};  ///< in ns or bytes; none: it was not measured
  std::string link = {};
};

/// What each commit that a search has tried reads by itself, side by side: a column a commit, in
/// which its values are a histogram. Each is compared with its nearest left neighbour that has
/// values.
struct ProbeStrips {
  Frame frame = {};
  std::string title = {};
  Metric metric = Metric::time;
  std::vector<ProbedCommit> commits = {};  ///< oldest first
};

std::string svg_of(const ProbeStrips&);
std::string text_of(const ProbeStrips&, int columns);
/// One row a commit, oldest first: values, median, change against the left neighbour, least,
/// greatest.
Table table_of(const ProbeStrips&);

}  // namespace torchwatch::drawing
