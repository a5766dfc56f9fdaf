#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/comparison/schedule.hpp"

namespace torchwatch::comparison {

/// Decides the next block and the verdicts of one benchmark in one pass of a comparison.
class BenchmarkSchedule {
 public:
  BenchmarkSchedule(const Schedule& schedule, const Benchmark& benchmark, Pass pass)
      : schedule_(schedule), benchmark_(benchmark), pass_(pass) {}

  /// Returns the next block, or nothing when `judged()` is final.
  std::optional<Block> next() const;
  std::vector<JudgedSeries> judged() const;

 private:
  /// The runs of one stage's complete blocks, in the order of their slots.
  struct Runs {
    std::vector<const storage::RunRow*> baseline;
    std::vector<const storage::RunRow*> candidate;
    int blocks = 0;
    std::vector<const storage::RunRow*> in_order;  ///< four to a block
  };
  struct Step {
    std::optional<Block> next;
    std::vector<JudgedSeries> judged;
  };

  Runs runs_of(Stage stage) const;
  Block block(Stage stage, int index) const {
    return {.benchmark = benchmark_, .pass = pass_, .stage = stage, .index = index};
  }
  Step evaluate() const;
  std::optional<Step> ended_early(const Runs& screen) const;
  Step evaluate_timing(const Runs& screen) const;
  Step evaluate_memory(const Runs& screen) const;
  std::optional<Step> failed(const Runs& runs) const;
  std::optional<std::string> machine_change() const;
  std::vector<Metric> metrics(const Runs& runs) const;
  void add_partly_measured(const Runs& runs, Step& step) const;
  std::vector<double> pair_log_ratios(const Runs& runs, Metric metric) const;
  JudgedSeries judge_as(Metric metric, Verdict verdict, std::string reason, const Runs& runs) const;
  Step all_metrics(Verdict verdict, const std::string& reason, const Runs& runs, bool lost) const;

  const Schedule& schedule_;
  const Benchmark& benchmark_;
  Pass pass_;
};

}  // namespace torchwatch::comparison
