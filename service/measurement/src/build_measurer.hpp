#pragma once

#include <stop_token>
#include <vector>

#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::measurement {

/// Measures one build alone in the benchmarks of the configured suite. Its runs belong to a
/// comparison of purpose measurement, which ends without a verdict.
class BuildMeasurer {
 public:
  /// Prepares the build and opens the comparison. Errors: of storage, of the kits, invalid (the
  /// build's folder is damaged), cancelled.
  static Result<BuildMeasurer> open(comparison::Services&, storage::Id build, std::stop_token stop);
  /// The same of another plan.
  static Result<BuildMeasurer> open(comparison::Services&, storage::Id build, comparison::Plan,
                                    std::stop_token stop);

  const comparison::Plan& plan() const { return plan_; }
  /// Gives every later run a fresh copy of the library files.
  void place_libraries() { build_.place_libraries = true; }
  /// Sets the total number of runs that the progress shows.
  void expect(int runs) { expected_ = runs; }

  /// Runs `count` fresh processes one after the other. Errors: those of
  /// comparison::RunRecorder::run.
  Result<std::vector<comparison::MachineRun>> run(const Benchmark&, Pass, int count,
                                                  std::stop_token stop);

  /// Runs pairs of timing runs the way two builds are compared; from the first pair on that fails,
  /// as on a device that cannot hold both, its runs are made apart. Errors: those of
  /// comparison::RunRecorder::run.
  Result<std::vector<comparison::MachineRun>> run_pairs(const Benchmark&, int pairs,
                                                        std::stop_token stop);

  /// Ends the comparison. Errors: of storage.
  Status close();

 private:
  BuildMeasurer(comparison::Services& services, comparison::Plan plan,
                comparison::MeasurableBuild build, storage::ComparisonRow comparison)
      : services_(services),
        plan_(std::move(plan)),
        build_(std::move(build)),
        comparison_(std::move(comparison)),
        recorder_(services, {storage::OwnerKind::comparison, comparison_.id}) {}

  std::string next_slot(const Benchmark&, Pass, std::size_t number);
  Status run_until(int count, const Benchmark&, Pass, std::stop_token stop,
                   std::vector<comparison::MachineRun>& runs);

  comparison::Services& services_;
  comparison::Plan plan_;
  comparison::MeasurableBuild build_;
  storage::ComparisonRow comparison_;
  comparison::RunRecorder recorder_;
  int expected_ = 0;
  int done_ = 0;
};

}  // namespace torchwatch::measurement
