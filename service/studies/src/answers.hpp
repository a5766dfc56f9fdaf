#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/studies/study_file.hpp"
#include "torchwatch/terminal/comparison_text.hpp"

namespace torchwatch::studies {

/// What the comparison of a pair came to.
struct Answer {
  Pair pair = {};
  terminal::ComparisonFacts facts = {};
  std::string machine = {};  ///< the class that it was measured on; empty without a run
  nlohmann::json json = {};  ///< the comparison as `comparison show --json` prints it
};

/// The times of a pair over its benchmarks.
struct Times {
  double ratio = 0;  ///< geometric mean, candidate / baseline; 0 where nothing ran on both
  int benchmarks = 0;
};
Times times_of(const std::vector<storage::VerdictRow>&);

/// Prints one line for each pair: its mean change in time, and how many series have each verdict.
void print_table(std::ostream&, const StudyFile&, const std::vector<Answer>&,
                 const terminal::Screen&);

/// Prints a page of Markdown: what was asked, on which build and machine, that table, and a table
/// of the series of each pair. `command` is how it was made.
void print_page(std::ostream&, const StudyFile&, const std::vector<Answer>&,
                const std::string& command);

/// Returns the study with its comparisons, as --json prints it.
nlohmann::json to_json(const StudyFile&, const std::vector<Answer>&);

}  // namespace torchwatch::studies
