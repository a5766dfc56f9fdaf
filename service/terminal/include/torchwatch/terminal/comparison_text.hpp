#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/storage/rows.hpp"
#include "torchwatch/storage/study_store.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// An incident of a comparison, with what is known of its cause and its issue.
struct FoundIncident {
  storage::IncidentRow row;
  std::string culprit;    ///< "33de6cd2393f Warm up twice"; empty: none is named
  double confidence = 0;  ///< in the culprit; 0: not stated
  std::string issue;      ///< "filed as issue #12"
};

/// A comparison with everything that is printed of it.
struct ComparisonFacts {
  storage::ComparisonRow comparison = {};
  std::string stage = "waiting";  ///< of one that has not ended: what is done on it
  storage::BuildRow baseline = {};
  storage::BuildRow candidate = {};
  std::optional<storage::StudyRow> study = {};  ///< of one whose sides differ in a setting alone
  std::vector<storage::VerdictRow> verdicts = {};
  std::vector<FoundIncident> incidents = {};
  std::vector<std::string> remarks = {};       ///< sentences on the comparison as a whole
  std::vector<Benchmark> newly_measured = {};  ///< with values now, and not in the nightly before
  double confidence = 0;                       ///< of the intervals, as configured
  int runs = 0;
  int builds = 0;      ///< of commits, by the searches
  double seconds = 0;  ///< from its start to its end; 0 before that
};

/// Returns one sentence with what matters: "2026-06-17 against 2026-06-16: 2 series regressed,
/// culprit 33de6cd2393f Warm up twice".
std::string sentence_on(const ComparisonFacts&);

/// Prints that sentence, then what regressed, was lost, improved, could not be decided and is newly
/// measured, one line for what is unchanged, and what the comparison cost. `all`: the unchanged
/// series as a table, too.
void print(std::ostream&, const ComparisonFacts&, bool all, const Screen&);

}  // namespace torchwatch::terminal
