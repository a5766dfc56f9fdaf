#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// The commit that a first search named, and who held it for the wrong one.
struct Disputed {
  std::string commit;
  storage::Decision decision;
};

/// An incident with everything that is printed of it.
struct IncidentFacts {
  storage::IncidentRow row = {};
  std::string baseline = {};  ///< names of builds
  std::string candidate = {};
  report::Loss loss = {};
  std::optional<Disputed> disputed = {};
  std::optional<std::string> cancelled = {};              ///< how its comparison was: "by uid 1000"
  std::optional<bisection::BisectionResult> result = {};  ///< of a bisection that has ended
  std::vector<report::TraceStep> trace = {};
  std::vector<storage::OutboxRow> messages = {};
  std::vector<report::Recheck> rechecks = {};  ///< newest first
  std::vector<std::string> issue_events = {};  ///< what people did to its issue, oldest first
  std::vector<std::string> mutes = {};         ///< those that hold for its series
  std::vector<std::string> traces = {};        ///< of both builds, with their files
  std::string operators = {};                  ///< what they take more; empty: not watched
  std::string reproduce = {};                  ///< the command that repeats the comparison
  /// What it rests on, drawn as texts of that many columns; empty: nothing can be drawn.
  std::function<std::vector<std::string>(int columns)> drawings = {};
  double confidence = 0;  ///< of the intervals, as configured
};

/// Prints what changed, how much, the culprit, how sure, what it rests on, what to do next, and how
/// the culprit was found.
void print(std::ostream&, const IncidentFacts&, const bisect::CommitHistory* history,
           const Screen&);

}  // namespace torchwatch::terminal
