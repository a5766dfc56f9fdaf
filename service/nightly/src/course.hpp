#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/nightly/comparison.hpp"

namespace torchwatch::nightly {

/// One cell in one pass within a comparison: its blocks so far, what they say, what comes next.
class Course {
 public:
  Course(const Comparison& comparison, const Cell& cell, Pass pass)
      : comparison_(comparison), cell_(cell), pass_(pass) {}

  /// The next block, or none when `findings()` is final.
  std::optional<Block> next() const;
  std::vector<Finding> findings() const;

 private:
  /// Runs of one stage, complete blocks only, in order of their slots.
  struct Runs {
    std::vector<const storage::RunRow*> baseline;
    std::vector<const storage::RunRow*> candidate;
    int blocks = 0;
    std::vector<const storage::RunRow*> in_order;  ///< four a block
  };
  struct Step {
    std::optional<Block> next;
    std::vector<Finding> findings;
  };

  Runs runs_of(Stage stage) const;
  Block block(Stage stage, int index) const { return Block{cell_, pass_, stage, index}; }
  Step evaluate() const;
  std::optional<Step> refused(const Runs& screen) const;
  Step evaluate_timing(const Runs& screen) const;
  Step evaluate_memory(const Runs& screen) const;
  std::optional<Step> failed(const Runs& runs) const;
  std::optional<std::string> machine_change() const;
  std::vector<Metric> metrics(const Runs& runs) const;
  void add_partly_measured(const Runs& runs, Step& step) const;
  std::vector<double> pair_log_ratios(const Runs& runs, Metric metric) const;
  Finding finding(Metric metric, Verdict verdict, std::string reason, const Runs& runs) const;
  Step all_metrics(Verdict verdict, const std::string& reason, const Runs& runs, bool lost) const;

  const Comparison& comparison_;
  const Cell& cell_;
  Pass pass_;
};

}  // namespace torchwatch::nightly
