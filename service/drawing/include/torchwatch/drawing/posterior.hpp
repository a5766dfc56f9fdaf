#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

enum class CommitState {
  searched,
  folded,
  unbuildable,
  suspect,  ///< the most likely culprit, one in doubt, or one of those that look alike
  culprit
};

struct SearchedCommit {
  std::string sha = {};
  std::string subject = {};
  CommitState state = CommitState::searched;
  std::string link = {};
  /// How many right before it have no column of their own: their probability is in its own.
  std::size_t untried_before = 0;
};

/// What is believed after a probe.
struct PosteriorStep {
  std::optional<std::size_t> probe = {};  ///< of `commits`; nothing: before the first one
  std::optional<double> ratio = {};       ///< the probed commit to the last good one
  std::optional<Interval> interval = {};
  /// One for each of `commits`: that it, or one of its `untried_before`, is the culprit.
  std::vector<double> masses = {};
  std::string why = {};  ///< why that commit was probed; for pointers and programs
};

/// A bisection step by step, as a matrix: a column a commit with those before it that have none,
/// oldest left, a row a step, newest on top.
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
