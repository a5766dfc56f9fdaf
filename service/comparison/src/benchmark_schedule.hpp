#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "torchwatch/comparison/schedule.hpp"
#include "torchwatch/detect/time_verdict.hpp"

namespace torchwatch::comparison {

/// The values of a metric in those of the runs that state it.
std::vector<std::int64_t> whole_values(const std::vector<const storage::RunRow*>&, Metric);

/// Decides the next block and the verdicts of one benchmark in one pass of a comparison.
class BenchmarkSchedule {
 public:
  BenchmarkSchedule(const Schedule& schedule, const Benchmark& benchmark, Pass pass)
      : schedule_(schedule),
        benchmark_(benchmark),
        pass_(pass),
        first_screen_(schedule.first_index({benchmark, pass, Stage::screen})),
        first_confirm_(schedule.first_index({benchmark, pass, Stage::confirm})) {}

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
  /// The runs of a block, once all of them are made.
  std::optional<Runs> runs_of(const Block&) const;
  /// The number-th block of a stage, from 0.
  Block block(Stage stage, int number) const {
    const int first = stage == Stage::screen ? first_screen_ : first_confirm_;
    return {.benchmark = benchmark_, .pass = pass_, .stage = stage, .index = first + number};
  }
  Step evaluate() const;
  std::optional<Step> ended_early(const Runs& screen) const;
  void bound_rest(const Series&, std::span<const double> pairs, const detect::Settings&,
                  detect::ConfirmDecision&) const;
  Step evaluate_timing(const Runs& screen) const;
  Step evaluate_memory(const Runs& screen) const;
  /// Screens memory before its first block is whole: one run of each build is enough where they
  /// are alike in all that is judged.
  Step evaluate_first_pair() const;
  std::optional<Step> failed(const Runs& runs) const;
  std::optional<std::string> machine_change() const;
  bool is_judged_here(Metric) const;
  std::vector<Metric> metrics(const Runs& runs) const;
  void add_partly_measured(const Runs& runs, Step& step) const;
  std::vector<double> pair_log_ratios(Stage, const Runs& runs, Metric metric) const;
  JudgedSeries judge_as(Metric metric, Verdict verdict, std::string reason, const Runs& runs) const;
  Step all_metrics(Verdict verdict, const std::string& reason, const Runs& runs, bool lost) const;

  const Schedule& schedule_;
  const Benchmark& benchmark_;
  Pass pass_;
  int first_screen_;
  int first_confirm_;
};

}  // namespace torchwatch::comparison
