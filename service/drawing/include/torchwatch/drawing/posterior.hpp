#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

enum class CommitState { searched, folded, unbuildable, culprit };

struct SearchedCommit {
  std::string sha = {};
  std::string subject = {};
  CommitState state = CommitState::searched;
  std::string link = {};
};

/// What is believed after a probe.
struct PosteriorStep {
  std::optional<std::size_t> probe = {};  ///< of `commits`; nothing: before the first one
  std::optional<double> ratio = {};       ///< the probed commit to the last good one
  std::optional<Interval> interval = {};
  std::vector<double> masses = {};  ///< one for each of `commits`: that it is the culprit
  std::string why = {};             ///< why that commit was probed; for pointers and programs
};

/// A bisection step by step, as a matrix: a column a commit, oldest left, a row a step, newest on
/// top.
struct PosteriorSteps {
  Frame frame = {};
  std::string title = {};
  std::vector<SearchedCommit> commits = {};  ///< oldest first
  std::vector<PosteriorStep> steps = {};     ///< oldest first
  double confidence = 0.99;                  ///< of the intervals
};

std::string svg_of(const PosteriorSteps&);
std::string text_of(const PosteriorSteps&, int columns);
/// One row a step, newest first: probe, change, interval, the commit believed most, its mass, and
/// how many commits hold 95 %.
Table table_of(const PosteriorSteps&);

}  // namespace torchwatch::drawing
